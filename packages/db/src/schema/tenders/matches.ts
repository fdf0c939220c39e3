import { sql } from 'drizzle-orm';
import { boolean, foreignKey, index, pgEnum, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { users } from '../accounts/users.ts';
import { createdAt, instant, platformRules, tenantPolicies } from '../columns.ts';
import { tenants as tenantRows } from '../tenants.ts';
import { tenders } from './notices.ts';
import { savedSearches } from './saved-searches.ts';

/** Tenders that are new or different since searches were last asked. No tenant sees it. */
export const unmatchedTenders = pgTable(
  'unmatched_tenders',
  {
    tenderId: uuid()
      .primaryKey()
      .references(() => tenders.id, { onDelete: 'cascade' }),
    /** Whether people are told of what matches; not of what a source shows when it is read for the first time. */
    isTold: boolean().notNull(),
    storedAt: createdAt(),
  },
  (t) => [index('unmatched_tenders_stored').on(t.storedAt), ...platformRules(sql`false`)],
);

export const alertKind = pgEnum('tender_alert_kind', ['digest', 'instant']);

/**
 * A tender that a saved search found. One mail tells it, or none: `notifiedAt` says that nothing is owed any more, `isTold` that a mail
 * server has taken the mail that told it.
 */
export const tenderMatches = pgTable(
  'tender_matches',
  {
    tenantId: uuid().notNull(),
    searchId: uuid().notNull(),
    tenderId: uuid()
      .notNull()
      .references(() => tenders.id, { onDelete: 'cascade' }),
    /** By which kind of mail it is told. */
    kind: alertKind().notNull(),
    /** What it is due to, as the search says it. */
    reasons: text().array().notNull(),
    matchedAt: createdAt(),
    /** The mail that has it in its list. */
    alertId: uuid(),
    notifiedAt: instant(),
    isTold: boolean().notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.searchId, t.tenderId] }),
    index('tender_matches_tender').on(t.tenderId),
    // Two of what is owed, without what they share: a mail looks its list up by its id and must not find the way through all that is owed.
    index('tender_matches_owed')
      .on(t.kind, t.matchedAt)
      .where(sql`notified_at is null and alert_id is null`),
    index('tender_matches_alert')
      .on(t.alertId)
      .where(sql`notified_at is null and alert_id is not null`),
    // For what has been kept long enough, which nobody is owed: what is found is not in it, so finding costs nothing more. An index of
    // ranges would soon point everywhere, for new rows take the places of old ones.
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

/** What became different about a tender that people may have been told of: once for each notice that made it so. No tenant writes it. */
export const tenderChanges = pgTable(
  'tender_changes',
  {
    id: uuid().primaryKey(),
    tenderId: uuid()
      .notNull()
      .references(() => tenders.id, { onDelete: 'cascade' }),
    /** Notice and version that changed it. */
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

/** That an account is to be told of a change. It goes the way of matches. */
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
