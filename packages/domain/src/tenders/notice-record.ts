import type { Land } from './laender.ts';

/** What a notice is for (BT-03). A correction has the form of what it corrects; `change` is left where nothing tells that. */
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

/** What has to be in by a deadline: a tender (BT-131), a request to participate (BT-1311) or an expression of interest (BT-630). */
export type DeadlineKind = 'tender' | 'participation' | 'interest';

export interface NoticeDeadline {
  kind: DeadlineKind;
  /** Null where the notice is not divided, or the source does not say which lot. */
  lotId: string | null;
  /** UTC; of a date without a time the end of that day in Berlin. */
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
 * The notice a correction or a cancellation is about (BT-758). Old notices are named by their number in the Official Journal,
 * all others by the id and the version of the notice itself.
 */
export type ChangedNotice =
  | { noticeUuid: string; version: number | null; publicationNumber: null }
  | { noticeUuid: null; version: null; publicationNumber: string };

/**
 * One notice as a reader found it, the same shape from every source. Whatever depends on the clock or on other notices (the deadline
 * that counts, the group, whether it was withdrawn) is not in here: the same bytes give the same record at any time.
 *
 * Every text is plain: no markup, no control characters, never longer than `noticeBounds` says, and null instead of empty. Every list
 * is free of repetitions and bounded.
 */
export interface NoticeRecord {
  /** The key of the source: `ted`, `oeffentlichevergabe`, `bund`, `rss:<id of the feed>`, `mailbox:<id of the account>`. */
  sourcePortal: string;
  /** As the source names this very version: `373130-2026`, `<uuid>-02`, `25599482-1`, the number or the guid of a feed's item. */
  sourceNoticeId: string;
  /** What all versions of a notice have in common at its source; there is one row for a portal and a key. */
  noticeKey: string;
  /** Rises with each version of a notice; 1 where the source has none. A lower one never replaces a higher one. */
  noticeVersion: number;
  sourceUrl: string | null;
  /** The day of the source's export the notice stood in (`2026-11-19`); null where a source is not read by the day. */
  sourceDay: string | null;

  /** Lower case. Equal in two sources means the same notice. */
  noticeUuid: string | null;
  /** `373130-2026`, without leading zeros. Equal in two sources means the same notice. */
  publicationNumber: string | null;
  /** The number at service.bund.de, which is also the numeric id of the national export. Equal means the same notice. */
  bundId: string | null;
  /** Lower case. Equal means the same procedure: planning, call, correction and award have it in common. */
  procedureUuid: string | null;
  /** Ids of the procedure at known portals, out of the links: `cosinex:CXP4Y6Z`, `subreport:E12345678`. Equal means the same procedure. */
  portalIds: string[];

  changes: ChangedNotice | null;
  isCorrection: boolean;
  isCancelled: boolean;

  form: NoticeForm | null;
  /** `cn-standard`, `can-social`, `veat` … as the notice has it (BT-02). */
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
  /** Two digits each, only those that exist. */
  cpvDivisions: string[];
  /** Where the work is to be done. */
  nutsCodes: string[];
  /** The Länder of the place of performance; more than one where it reaches over a border. */
  bundeslaender: Land[];
  /** The one Land there is; null where there is none or more than one. */
  bundesland: Land | null;
  /** What the Land was found by. */
  bundeslandSource: 'nuts' | 'name' | 'postcode' | 'city' | 'buyer' | null;
  /** The whole country is named as the place, and no Land. */
  isNationwide: boolean;
  /** The place in words, to be shown. */
  region: string | null;

  /** ISO 8601, UTC. Null where an entry of a feed has no date: it counts from when it was first seen, whenever it is read again. */
  publishedAt: string | null;
  deadlines: NoticeDeadline[];
  valueCents: number | null;
  currency: string | null;
  documentsUrl: string | null;
  lots: NoticeLot[];

  /** Changes whenever anything above does, and with nothing else: equal means that there is nothing to write. */
  hash: string;
  /** What was read, kept for thirty days. */
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
