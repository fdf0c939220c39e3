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
 * One procurement, which can have several notices of several sources; its content is that of its primary notice. Triage refers to it, so
 * its id stays through corrections, and a merged tender refers to its survivor.
 */
export const tenders = pgTable(
  'tenders',
  {
    id: uuid().primaryKey(),
    /** The personal source that alone has listed it; null as soon as a public source lists it. */
    onlySource: text(),
    mergedInto: uuid().references((): AnyPgColumn => tenders.id, { onDelete: 'cascade' }),
    firstSeenAt: createdAt(),
    /** When its displayed content last changed. */
    changedAt: createdAt(),
  },
  (t) => [
    index('tenders_merged_into').on(t.mergedInto),
    index('tenders_changed').on(t.changedAt),
    ...platformRules(sql`${t.onlySource} is null or ${t.onlySource} = any(${ownSources})`),
  ],
);

/** Feeds and mailboxes, which users name: their keys contain a colon. The text must equal the condition of the index. */
export const isOfNamedSource = sql`source_key like '%:%'`;

/** The notices of the sources, one row per source and notice; a new version replaces the old one. */
export const tenderNotices = pgTable(
  'tender_notices',
  {
    id: uuid().primaryKey(),
    tenderId: uuid()
      .notNull()
      .references(() => tenders.id, { onDelete: 'cascade' }),
    /** Whether lists show the tender with the content of this notice. */
    isPrimary: boolean().notNull().default(false),
    sourceKey: text()
      .notNull()
      .references(() => tenderSources.key),
    /** A notice that a public source has listed stays public. */
    isPublic: boolean().notNull(),
    noticeKey: text().notNull(),
    sourceNoticeId: text().notNull(),
    noticeVersion: integer().notNull(),
    sourceUrl: text(),
    sourceDay: date(),
    /** Consecutive reads of its day that no longer listed it. */
    missedReads: smallint('missed_looks').notNull().default(0),

    noticeUuid: text(),
    publicationNumber: text(),
    bundId: text(),
    procedureUuid: text(),
    portalIds: text().array().notNull(),
    /** Normalized title, buyer and day of the deadline: tells procurements without better keys apart. */
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

/** The originals of notices, compressed with zstd. Hidden from tenants. */
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
