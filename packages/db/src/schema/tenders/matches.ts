import { sql } from 'drizzle-orm';
import { boolean, foreignKey, index, pgEnum, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { users } from '../accounts/users.ts';
import { createdAt, instant, platformRules, tenantPolicies } from '../columns.ts';
import { tenants as tenantRows } from '../tenants.ts';
import { tenders } from './notices.ts';
import { savedSearches } from './saved-searches.ts';

/** Tenders that are new or changed since saved searches were last matched. Hidden from tenants. */
export const unmatchedTenders = pgTable(
  'unmatched_tenders',
  {
    tenderId: uuid()
      .primaryKey()
      .references(() => tenders.id, { onDelete: 'cascade' }),
    /** Whether matches are reported by mail. False for tenders of the first read of a source. */
    sendsAlerts: boolean('is_told').notNull(),
    storedAt: createdAt(),
  },
  (t) => [index('unmatched_tenders_stored').on(t.storedAt), ...platformRules(sql`false`)],
);

export const alertKind = pgEnum('tender_alert_kind', ['digest', 'instant']);

/**
 * A tender that a saved search found. At most one mail reports it. `alertId`, `notifiedAt` and `wasSent` hold its state: pending, queued,
 * sent or dismissed (`packages/usecases/src/tenders/alerts/match-state.ts`).
 */
export const tenderMatches = pgTable(
  'tender_matches',
  {
    tenantId: uuid().notNull(),
    searchId: uuid().notNull(),
    tenderId: uuid()
      .notNull()
      .references(() => tenders.id, { onDelete: 'cascade' }),
    /** The kind of mail that reports it. */
    kind: alertKind().notNull(),
    /** The terms of the search that it matches, as the search labels them. */
    reasons: text().array().notNull(),
    matchedAt: createdAt(),
    /** The alert mail that lists it. */
    alertId: uuid(),
    notifiedAt: instant(),
    wasSent: boolean('is_told').notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.searchId, t.tenderId] }),
    index('tender_matches_tender').on(t.tenderId),
    // Pending and queued rows have separate indexes: a mail finds its list by `alert_id` and must not read all unsent rows.
    index('tender_matches_owed')
      .on(t.kind, t.matchedAt)
      .where(sql`notified_at is null and alert_id is null`),
    index('tender_matches_alert')
      .on(t.alertId)
      .where(sql`notified_at is null and alert_id is not null`),
    // For retention. Only sent and dismissed rows are in it, so inserting a match costs nothing more. A BRIN index would degrade: new rows
    // take the places of deleted ones.
    index('tender_matches_notified')
      .on(t.matchedAt)
      .where(sql`notified_at is not null`),
    foreignKey({
      columns: [t.tenantId, t.searchId],
      foreignColumns: [savedSearches.tenantId, savedSearches.id],
    }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);

export const tenderChangeKind = pgEnum('tender_change_kind', ['cancelled', 'deadline', 'corrected']);

/** A change of a tender that may have been reported already, one row per notice that caused it. Tenants cannot write it. */
export const tenderChanges = pgTable(
  'tender_changes',
  {
    id: uuid().primaryKey(),
    tenderId: uuid()
      .notNull()
      .references(() => tenders.id, { onDelete: 'cascade' }),
    /** Notice and version that caused the change. */
    successor: text().notNull(),
    kind: tenderChangeKind().notNull(),
    at: createdAt(),
  },
  (t) => [
    unique('tender_changes_successor_unique').on(t.tenderId, t.successor),
    index('tender_changes_at').on(t.at),
    ...platformRules(sql`exists (select from tenders seen where seen.id = ${t.tenderId})`),
  ],
);

/** A change to report to an account. Its states are those of a match. */
export const tenderChangeNotices = pgTable(
  'tender_change_notices',
  {
    tenantId: uuid().notNull(),
    userId: uuid().notNull(),
    changeId: uuid()
      .notNull()
      .references(() => tenderChanges.id, { onDelete: 'cascade' }),
    noticedAt: createdAt(),
    alertId: uuid(),
    notifiedAt: instant(),
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.changeId] }),
    index('tender_change_notices_change').on(t.changeId),
    index('tender_change_notices_user').on(t.tenantId, t.userId),
    index('tender_change_notices_owed')
      .on(t.noticedAt)
      .where(sql`notified_at is null and alert_id is null`),
    index('tender_change_notices_alert')
      .on(t.alertId)
      .where(sql`notified_at is null and alert_id is not null`),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenantRows.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);
