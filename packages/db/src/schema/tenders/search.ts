import { sql } from 'drizzle-orm';
import { bigint, boolean, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { instant, platformRules, tsvector } from '../columns.ts';
import { tenders } from './notices.ts';
import { ownSources } from './sources.ts';

/** The columns for filters, sorting and counting, derived from the tender's notices. */
const searched = () => ({
  tenderId: uuid()
    .primaryKey()
    .references(() => tenders.id, { onDelete: 'cascade' }),
  publishedAt: instant().notNull(),
  /** The earliest deadline in the future, else the last one; infinity if none is known. */
  deadlineAt: instant().notNull(),
  deadlineIsDateOnly: boolean().notNull(),
  /** The last deadline; infinity if none is known. */
  openUntil: instant().notNull(),
  /** A call (or unknown form), neither cancelled nor withdrawn, whose last deadline had not passed when a job last checked. */
  isOpen: boolean().notNull(),
  sourceKeys: text().array().notNull(),
  bundeslaender: text().array().notNull(),
  isNationwide: boolean().notNull(),
  cpvDivisions: text().array().notNull(),
  valueCents: bigint({ mode: 'number' }),
  currency: text(),
  /** Titles of the tender and its lots, in lower case with umlauts spelled out: searched for text within words. */
  titles: text().notNull().default(''),
  /** Words, and the markers of `packages/domain/src/tenders/markers.ts`. */
  document: tsvector().notNull(),
});

/**
 * Tenders that a public source has listed. Every user sees all of them; personal tenders are in a separate table. With a row policy that
 * depends on the row, PostgreSQL would evaluate the policy before the text search operators and could not use the word index: none of
 * these operators is leakproof, and only a superuser may declare them so.
 */
export const tenderSearch = pgTable('tender_search', searched(), (t) => [
  index('tender_search_published').on(t.publishedAt.desc().nullsFirst(), t.tenderId.desc().nullsFirst()),
  index('tender_search_open')
    .on(t.publishedAt.desc().nullsFirst(), t.tenderId.desc().nullsFirst())
    .where(sql`is_open`),
  index('tender_search_open_deadline')
    .on(t.deadlineAt, t.tenderId)
    .where(sql`is_open`),
  index('tender_search_deadline').on(t.deadlineAt, t.tenderId),
  // Every search scans the pending list, so it is kept short.
  index('tender_search_document').using('gin', t.document).with({ gin_pending_list_limit: 1024 }),
  ...platformRules(),
]);

/** Tenders that only a personal source has listed; only its owners see them. */
export const personalTenderSearch = pgTable(
  'personal_tender_search',
  { ...searched(), onlySource: text().notNull() },
  (t) => [
    index('personal_tender_search_source').on(t.onlySource, t.publishedAt),
    ...platformRules(sql`${t.onlySource} = any(${ownSources})`),
  ],
);
