import type { Land } from './laender.ts';

/** The form type of a notice (BT-03). A correction has the form of the notice it corrects, or `change` if that is unknown. */
export const noticeForms = [
  'competition',
  'planning',
  'consultation',
  'result',
  'dir-awa-pre',
  'cont-modif',
  'change',
  'completion',
] as const;
export type NoticeForm = (typeof noticeForms)[number];

export const contractNatures = ['works', 'supplies', 'services'] as const;
export type ContractNature = (typeof contractNatures)[number];

/** What the deadline is for: tenders (BT-131), requests to participate (BT-1311) or expressions of interest (BT-630). */
export type DeadlineKind = 'tender' | 'participation' | 'interest';

export interface NoticeDeadline {
  kind: DeadlineKind;
  /** Null if the notice has no lots, or the source does not name the lot. */
  lotId: string | null;
  /** UTC; for a date without a time, the end of that day in Berlin. */
  at: string;
  isDateOnly: boolean;
}

export interface NoticeLot {
  id: string;
  title: string | null;
  description: string | null;
  cpvCodes: string[];
  nutsCodes: string[];
  valueCents: number | null;
  currency: string | null;
}

/**
 * The notice that a correction or cancellation refers to (BT-758). Old notices are identified by their number in the Official Journal, all
 * others by notice id and version.
 */
export type ChangedNotice =
  | { noticeUuid: string; version: number | null; publicationNumber: null }
  | { noticeUuid: null; version: null; publicationNumber: string };

/**
 * One notice in the same shape for every source. It contains nothing that depends on the clock or on other notices (effective deadline,
 * group, withdrawal): the same bytes always give the same record.
 *
 * Every text is plain (no markup, no control characters), at most as long as `noticeBounds` allows, and null instead of empty. Every list
 * is limited and has no duplicates.
 */
export interface NoticeRecord {
  /** The key of the source: `ted`, `oeffentlichevergabe`, `bund`, `rss:<id of the feed>`, `mailbox:<id of the account>`. */
  sourcePortal: string;
  /** The source’s id of this version: `373130-2026`, `<uuid>-02`, `25599482-1`, or the guid of a feed item. */
  sourceNoticeId: string;
  /** The source’s id of the notice, common to all versions. There is one row per source and key. */
  noticeKey: string;
  /** Increases with each version; 1 if the source has no versions. A lower version never replaces a higher one. */
  noticeVersion: number;
  sourceUrl: string | null;
  /** The day of the export that contains the notice (`2026-11-19`); null if the source is not read by day. */
  sourceDay: string | null;

  /** Lower case. Equal in two sources means the same notice. */
  noticeUuid: string | null;
  /** `373130-2026`, without leading zeros. Equal in two sources means the same notice. */
  publicationNumber: string | null;
  /** The number at service.bund.de, which is also the numeric id of the national export. Equal means the same notice. */
  bundId: string | null;
  /** Lower case. Equal means the same procedure: planning, call, correction and award share it. */
  procedureUuid: string | null;
  /** Ids of the procedure at known portals, from its links: `cosinex:CXP4Y6Z`, `subreport:E12345678`. Equal means the same procedure. */
  portalIds: string[];

  changes: ChangedNotice | null;
  isCorrection: boolean;
  isCancelled: boolean;

  form: NoticeForm | null;
  /** `cn-standard`, `can-social`, `veat` …, as written in the notice (BT-02). */
  noticeType: string | null;
  /** `16`, `E3` … (OPP-070). */
  subtype: string | null;
  procedureType: string | null;
  nature: ContractNature | null;
  /** ISO 639-2, lower case (`deu`). */
  language: string | null;

  title: string;
  description: string | null;
  buyerName: string | null;
  buyerCity: string | null;
  /** Eight digits each, the main one first. */
  cpvCodes: string[];
  /** Two digits each, known divisions only. */
  cpvDivisions: string[];
  /** The places of performance. */
  nutsCodes: string[];
  /** The Länder of the places of performance. */
  bundeslaender: Land[];
  /** The Land if there is exactly one, else null. */
  bundesland: Land | null;
  /** The fact from which the Länder were derived. */
  bundeslandSource: 'nuts' | 'name' | 'postcode' | 'city' | 'buyer' | null;
  /** The place of performance is the whole country. */
  isNationwide: boolean;
  /** The place in words, for display. */
  region: string | null;

  /** ISO 8601, UTC. Null for a feed entry without a date: the time when it was first seen counts. */
  publishedAt: string | null;
  deadlines: NoticeDeadline[];
  valueCents: number | null;
  currency: string | null;
  documentsUrl: string | null;
  lots: NoticeLot[];

  /** Hash of all fields above: if it is unchanged, the notice need not be written. */
  hash: string;
  /** The original, stored for thirty days. */
  raw: { format: 'eforms' | 'ted' | 'feed' | 'mail'; body: string };
}

export const noticeBounds = {
  title: 500,
  description: 10_000,
  name: 300,
  id: 300,
  url: 2_000,
  cpvCodes: 100,
  nutsCodes: 100,
  lots: 500,
  deadlines: 500,
  /** Title and description of all lots together. */
  lotText: 200_000,
} as const;
