import { sql } from 'drizzle-orm';
import { bigint, boolean, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { instant, platformRules, tsvector } from '../columns.ts';
import { tenders } from './notices.ts';
import { ownSources } from './sources.ts';

/** What filters, sorting and counting look at, made from the tender's notices. */
const searched = () => ({
  tenderId: uuid()
    .primaryKey()
    .references(() => tenders.id, { onDelete: 'cascade' }),
  publishedAt: instant().notNull(),
  /** The earliest deadline that is still to come, else the last one; infinity where none is known. */
  deadlineAt: instant().notNull(),
  deadlineIsDateOnly: boolean().notNull(),
  /** The last deadline, infinity where none is known. */
  openUntil: instant().notNull(),
  /** A call, or of unknown form, neither cancelled nor withdrawn, whose last deadline had not passed when a job last looked. */
  isOpen: boolean().notNull(),
  sourceKeys: text().array().notNull(),
  bundeslaender: text().array().notNull(),
  isNationwide: boolean().notNull(),
  cpvDivisions: text().array().notNull(),
  valueCents: bigint({ mode: 'number' }),
  currency: text(),
  /** Title and titles of lots, in lower case and with umlauts spelled out, for what is looked for within words. */
  titles: text().notNull().default(''),
  /** Words, and the markers of `packages/domain/src/tenders/markers.ts`. */
  document: tsvector().notNull(),
});

/**
 * Tenders a public source has shown. Everybody sees all of them, and those of one account are a table apart: under a policy that
 * depends on the row, the server asks it before every operator of words and would not take the index of words for any of them.
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
  // What is not yet in order is read through by every search, so it is kept short.
  index('tender_search_document').using('gin', t.document).with({ gin_pending_list_limit: 1024 }),
  ...platformRules(),
]);

/** Tenders that only a personal source has shown, for its owners alone. */
export const personalTenderSearch = pgTable(
  'personal_tender_search',
  { ...searched(), onlySource: text().notNull() },
  (t) => [
    index('personal_tender_search_source').on(t.onlySource, t.publishedAt),
    ...platformRules(sql`${t.onlySource} = any(${ownSources})`),
  ],
);
