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

/** What an account asks of tenders, and again of each that comes. Filters are what people set; the rest is made from them. */
export const savedSearches = pgTable(
  'saved_searches',
  {
    ...tenantColumns,
    userId: uuid().notNull(),
    name: text().notNull(),
    filters: jsonb().notNull(),
    instantAlert: boolean().notNull().default(false),
    /** What is asked of words and markers; null where nothing is. */
    question: tsquery(),
    /** Whatever else is asked, as text that is the same for the same. */
    bounds: text().notNull(),
    /** What a match may be due to, and the question of each. */
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
