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

/** Calendars an account reads, each with the result of the last read. */
export const calendarSources = pgTable(
  'calendar_sources',
  {
    ...tenantColumns,
    userId: uuid().notNull(),
    name: text().notNull(),
    kind: calendarKind().notNull(),
    /** `https://host`, with the port unless it is the default one. */
    origin: text().notNull(),
    /** Sealed (see packages/platform/src/secrets): the address is enough to read the events. */
    url: text().notNull(),
    username: text(),
    /** Sealed. */
    password: text(),
    color: text().notNull(),
    isActive: boolean().notNull(),
    createdAt: createdAt(),
    /** Time of the last read, successful or not. */
    checkedAt: instant(),
    /** Error of the last read. */
    error: calendarError(),
    /** File with the events last read, named by its own id. */
    bodyPath: text(),
    /** Size of that file; null until it is measured. */
    sizeBytes: integer(),
    /** Validators with which the server tells whether the events have changed. */
    validators: jsonb(),
    /** Window of the last request to a calendar server; null for an events file, which holds everything. */
    coversFrom: instant(),
    coversTo: instant(),
    /** Claim of the current read. The result counts only if the claim is still in place. */
    claim: uuid(),
    claimedUntil: instant(),
  },
  (t) => [
    index('calendar_sources_user').on(t.tenantId, t.userId),
    // The sweep of files without a row looks rows up by path.
    index('calendar_sources_body')
      .on(t.bodyPath)
      .where(sql`body_path is not null`),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    check('calendar_sources_claim', sql`(${t.claim} is null) = (${t.claimedUntil} is null)`),
    ...tenantRules(t, tenants),
  ],
);
