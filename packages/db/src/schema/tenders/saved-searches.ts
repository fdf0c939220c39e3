import { sql } from 'drizzle-orm';
import {
  boolean,
  foreignKey,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { users } from '../accounts/users.ts';
import { createdAt, tenantColumns, tenantPolicies, tenantRules, tsquery } from '../columns.ts';
import { tenants } from '../tenants.ts';

/**
 * Searches that an account has saved; each new tender is matched with them. Users set the filters; the other columns are compiled from
 * them.
 */
export const savedSearches = pgTable(
  'saved_searches',
  {
    ...tenantColumns,
    userId: uuid().notNull(),
    name: text().notNull(),
    filters: jsonb().notNull(),
    instantAlert: boolean().notNull().default(false),
    /** The query of words and markers; null if the filters have neither. */
    question: tsquery(),
    /** All other conditions as JSON; equal conditions give equal text. */
    bounds: text().notNull(),
    /** The terms that can be reasons of a match, and the query of each term. */
    termLabels: text().array().notNull(),
    termQuestions: text().array().notNull(),
    compilerVersion: integer().notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('saved_searches_name_unique').on(t.userId, sql`lower(${t.name})`),
    index('saved_searches_user').on(t.tenantId, t.userId),
    index('saved_searches_compiler_version').on(t.compilerVersion),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);

export const digestRhythm = pgEnum('tender_digest_rhythm', ['daily', 'weekly', 'off']);

/** How often an account wants a digest; daily without a row. */
export const tenderPreferences = pgTable(
  'tender_preferences',
  { tenantId: uuid().notNull(), userId: uuid().notNull(), digest: digestRhythm().notNull() },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.userId] }),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);
