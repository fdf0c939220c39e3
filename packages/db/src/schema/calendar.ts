import { sql } from 'drizzle-orm';
import { boolean, check, foreignKey, index, integer, jsonb, pgEnum, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts/users.ts';
import { createdAt, instant, tenantColumns, tenantRules } from './columns.ts';
import { tenants } from './tenants.ts';

export const calendarKind = pgEnum('calendar_kind', ['ics', 'caldav']);
export const calendarError = pgEnum('calendar_error', [
  'unreachable',
  'unauthorized',
  'notFound',
  'certificate',
  'timeout',
  'invalid',
  'storageFull',
]);

/** Calendars that an account reads, each with what was last read of it. */
export const calendarSources = pgTable(
  'calendar_sources',
  {
    ...tenantColumns,
    userId: uuid().notNull(),
    name: text().notNull(),
    kind: calendarKind().notNull(),
    /** `https://host`, with the port where it is not the usual one. */
    origin: text().notNull(),
    /** Sealed (see packages/platform/src/secrets): everyone who knows it can read the events. */
    url: text().notNull(),
    username: text(),
    /** Sealed. */
    password: text(),
    color: text().notNull(),
    isActive: boolean().notNull(),
    createdAt: createdAt(),
    /** When somebody last read it, or failed to. */
    checkedAt: instant(),
    /** How that went. */
    error: calendarError(),
    /** The events as they were last read. Its file is named by an id of its own. */
    bodyPath: text(),
    /** Of that file; null where none was measured yet. */
    sizeBytes: integer(),
    /** By which its server tells whether they have changed. */
    validators: jsonb(),
    /** Between which instants a calendar server was asked for events; a file holds them all. */
    coversFrom: instant(),
    coversTo: instant(),
    /** Of who reads it now. An answer counts as long as the claim it was read under is still there. */
    claim: uuid(),
    claimedUntil: instant(),
  },
  (t) => [
    index('calendar_sources_user').on(t.tenantId, t.userId),
    // The sweep of files without a row asks by path.
    index('calendar_sources_body')
      .on(t.bodyPath)
      .where(sql`body_path is not null`),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    check('calendar_sources_claim', sql`(${t.claim} is null) = (${t.claimedUntil} is null)`),
    ...tenantRules(t, tenants),
  ],
);
