import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  bigint,
  boolean,
  date,
  index,
  integer,
  jsonb,
  pgTable,
  smallint,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { bytea, createdAt, instant, platformRules } from '../columns.ts';
import { ownSources, tenderSources } from './sources.ts';

/**
 * One procurement as people see it, however many notices of however many sources tell of it; what it says is in its primary notice.
 * Triage points at it, so it stays the same through corrections, and one that turns out to be another's goes on to that one.
 */
export const tenders = pgTable(
  'tenders',
  {
    id: uuid().primaryKey(),
    /** The personal source that alone has shown it; null as soon as a public one has. */
    onlySource: text(),
    mergedInto: uuid().references((): AnyPgColumn => tenders.id, { onDelete: 'cascade' }),
    firstSeenAt: createdAt(),
    /** When what is shown of it last became different. */
    changedAt: createdAt(),
  },
  (t) => [
    index('tenders_merged_into').on(t.mergedInto),
    index('tenders_changed').on(t.changedAt),
    ...platformRules(sql`${t.onlySource} is null or ${t.onlySource} = any(${ownSources})`),
  ],
);

/** Feeds and mailboxes, which people name: their keys have a colon. Written as the index has it. */
export const isOfNamedSource = sql`source_key like '%:%'`;

/** What a source says: one row for a notice of a source, whatever its version. */
export const tenderNotices = pgTable(
  'tender_notices',
  {
    id: uuid().primaryKey(),
    tenderId: uuid()
      .notNull()
      .references(() => tenders.id, { onDelete: 'cascade' }),
    /** Whether the tender is shown as this notice has it. */
    isPrimary: boolean().notNull().default(false),
    sourceKey: text()
      .notNull()
      .references(() => tenderSources.key),
    /** Once a public source has shown it, it stays public. */
    isPublic: boolean().notNull(),
    noticeKey: text().notNull(),
    sourceNoticeId: text().notNull(),
    noticeVersion: integer().notNull(),
    sourceUrl: text(),
    sourceDay: date(),
    /** Looks in a row at its day that did not show it any more. */
    missedReads: smallint('missed_looks').notNull().default(0),

    noticeUuid: text(),
    publicationNumber: text(),
    bundId: text(),
    procedureUuid: text(),
    portalIds: text().array().notNull(),
    /** Title, buyer and day of the deadline, folded: what tells procurements without better keys apart. */
    fingerprint: text(),
    changedNoticeUuid: text(),
    changedPublicationNumber: text(),
    isCorrection: boolean().notNull(),
    isCancelled: boolean().notNull(),

    form: text(),
    noticeType: text(),
    subtype: text(),
    procedureType: text(),
    nature: text(),
    language: text(),
    title: text().notNull(),
    description: text(),
    buyerName: text(),
    buyerCity: text(),
    cpvCodes: text().array().notNull(),
    cpvDivisions: text().array().notNull(),
    nutsCodes: text().array().notNull(),
    bundeslaender: text().array().notNull(),
    bundesland: text(),
    bundeslandSource: text(),
    isNationwide: boolean().notNull(),
    region: text(),
    publishedAt: instant().notNull(),
    deadlines: jsonb().notNull(),
    valueCents: bigint({ mode: 'number' }),
    currency: text(),
    documentsUrl: text(),
    lots: jsonb().notNull(),

    hash: text().notNull(),
    firstSeenAt: createdAt(),
    changedAt: createdAt(),
  },
  (t) => [
    unique('tender_notices_key_unique').on(t.sourceKey, t.noticeKey),
    index('tender_notices_tender').on(t.tenderId),
    uniqueIndex('tender_notices_primary_unique')
      .on(t.tenderId)
      .where(sql`is_primary`),
    index('tender_notices_source_day').on(t.sourceKey, t.sourceDay),
    index('tender_notices_of_named_sources').on(t.sourceKey, t.firstSeenAt).where(isOfNamedSource),
    index('tender_notices_notice_uuid').on(t.noticeUuid),
    index('tender_notices_publication_number').on(t.publicationNumber),
    index('tender_notices_bund_id').on(t.bundId),
    index('tender_notices_portal_ids').using('gin', t.portalIds),
    index('tender_notices_fingerprint').on(t.fingerprint),
    index('tender_notices_changed_notice_uuid').on(t.changedNoticeUuid),
    index('tender_notices_changed_publication_number').on(t.changedPublicationNumber),
    ...platformRules(sql`${t.isPublic} or ${t.sourceKey} = any(${ownSources})`),
  ],
);

/** What was read, as it came; compressed by zstd. No tenant sees it. */
export const tenderPayloads = pgTable(
  'tender_payloads',
  {
    noticeId: uuid()
      .primaryKey()
      .references(() => tenderNotices.id, { onDelete: 'cascade' }),
    format: text().notNull(),
    body: bytea().notNull(),
    storedAt: createdAt(),
  },
  (t) => [index('tender_payloads_stored').on(t.storedAt), ...platformRules(sql`false`)],
);
