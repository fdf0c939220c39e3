import { cpvCodes, cpvDivisions } from './cpv.ts';
import { findLaender, type Place } from './laender.ts';
import { noticeBounds, type NoticeLot, type NoticeRecord } from './notice-record.ts';
import { nutsRegions } from './nuts-regions.ts';
import { portalIdsIn } from './portal-ids.ts';

/** The result of a reader, with texts and codes as written in the source. */
export interface NoticeDraft extends Pick<
  NoticeRecord,
  | 'sourcePortal'
  | 'sourceNoticeId'
  | 'noticeKey'
  | 'noticeVersion'
  | 'sourceUrl'
  | 'sourceDay'
  | 'noticeUuid'
  | 'publicationNumber'
  | 'bundId'
  | 'procedureUuid'
  | 'changes'
  | 'isCorrection'
  | 'isCancelled'
  | 'form'
  | 'noticeType'
  | 'subtype'
  | 'procedureType'
  | 'nature'
  | 'language'
  | 'publishedAt'
  | 'deadlines'
  | 'valueCents'
  | 'currency'
  | 'documentsUrl'
> {
  title: string | null;
  description: string | null;
  buyerName: string | null;
  buyer: Place | null;
  cpv: string[];
  places: Place[];
  lots: (Omit<NoticeLot, 'cpvCodes' | 'nutsCodes'> & { cpv: string[]; places: Place[] })[];
  /** Links that may contain portal ids. */
  links: string[];
}

/** The defaults of a draft. */
export const emptyDraft = {
  sourceDay: null,
  noticeUuid: null,
  publicationNumber: null,
  bundId: null,
  procedureUuid: null,
  changes: null,
  isCorrection: false,
  isCancelled: false,
  form: null,
  noticeType: null,
  subtype: null,
  procedureType: null,
  nature: null,
  language: null,
  description: null,
  buyerName: null,
  buyer: null,
  cpv: [],
  places: [],
  valueCents: null,
  currency: null,
  documentsUrl: null,
  lots: [],
  links: [],
} satisfies Partial<NoticeDraft>;

/** The ids of a notice from a source without versions. */
export const identity = (key: string) => ({ sourceNoticeId: key, noticeKey: key, noticeVersion: 1 });

/** Functions that this package gets from its callers. */
export interface NoticeTools {
  /** The visible text of HTML or plain text. */
  textOf(markup: string): string;
  hash(text: string): string;
}

/** The reason why a document is not a notice; a sentence without its subject: `has no title.` */
export class UnreadableNotice extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'UnreadableNotice';
  }
}

/** A notice without the bytes it was read from. */
export type ReadNotice = Omit<NoticeRecord, 'raw'>;

/**
 * The record of a notice: texts are plain and truncated, lists are limited, and values derived from codes are added. Throws an
 * UnreadableNotice.
 */
export function noticeOf(draft: NoticeDraft, tools: NoticeTools): ReadNotice {
  const { cpv, places, buyer, links, lots: foundLots, ...found } = draft;
  const line = (text: string | null, max: number) => plain(text, max, tools, ' ');
  const title = line(draft.title ?? foundLots[0]?.title ?? null, noticeBounds.title);
  if (title === null) throw new UnreadableNotice('has no title.');
  let remaining: number = noticeBounds.lotText;
  const lotText = (text: string | null, max: number): string | null => {
    const result = remaining <= 0 ? null : plain(text, Math.min(max, remaining), tools, '\n');
    remaining -= result?.length ?? 0;
    return result;
  };
  const lots = foundLots.slice(0, noticeBounds.lots).map((lot) => ({
    id: line(lot.id, noticeBounds.id) ?? '',
    title: lotText(lot.title?.replaceAll(/\s+/g, ' ') ?? null, noticeBounds.title),
    description: lotText(lot.description, noticeBounds.description),
    cpvCodes: cpvCodes(lot.cpv, noticeBounds.cpvCodes),
    nutsCodes: nutsOf(lot.places),
    valueCents: lot.valueCents,
    currency: lot.currency,
  }));
  const codes = cpvCodes([...cpv, ...foundLots.flatMap((lot) => lot.cpv)], noticeBounds.cpvCodes);
  const everywhere = [...places, ...foundLots.flatMap((lot) => lot.places)].slice(0, 2_000);
  const { bundeslaender, source, isNationwide } = findLaender(everywhere, buyer);
  const record: Omit<ReadNotice, 'hash'> = {
    ...found,
    sourceNoticeId: identifier(draft.sourceNoticeId),
    noticeKey: identifier(draft.noticeKey),
    sourceUrl: webAddress(draft.sourceUrl),
    portalIds: portalIdsIn([...links, draft.documentsUrl, draft.sourceUrl, draft.description]),
    noticeType: word(draft.noticeType),
    subtype: word(draft.subtype),
    procedureType: word(draft.procedureType),
    language: word(draft.language)?.toLowerCase() ?? null,
    title,
    description: plain(draft.description, noticeBounds.description, tools, '\n'),
    buyerName: line(draft.buyerName, noticeBounds.name),
    buyerCity: line(buyer?.city ?? null, noticeBounds.name),
    cpvCodes: codes,
    cpvDivisions: cpvDivisions(codes),
    nutsCodes: nutsOf(everywhere),
    bundeslaender,
    bundesland: bundeslaender.length === 1 ? (bundeslaender[0] ?? null) : null,
    bundeslandSource: source,
    isNationwide,
    region: line(regionOf(everywhere), noticeBounds.name),
    deadlines: draft.deadlines.slice(0, noticeBounds.deadlines),
    documentsUrl: webAddress(draft.documentsUrl),
    lots,
  };
  return { ...record, hash: tools.hash(JSON.stringify(record)) };
}

/** The distinct NUTS codes; `DE` stands for the whole country. */
const nutsOf = (places: readonly Place[]): string[] => [
  ...new Set(places.flatMap(({ nuts }) => nuts ?? []).slice(0, noticeBounds.nutsCodes)),
];

/** The towns, else the names of the regions. */
const regionOf = (places: readonly Place[]): string | null => {
  const towns = places.flatMap(({ postcode, city }) => [postcode, city].filter(Boolean).join(' ') || []);
  const regions = places.flatMap(({ nuts }) => nutsRegions.get(nuts ?? '') ?? []);
  const named = [...new Set(towns.length > 0 ? towns : regions)];
  return named.length === 0 ? null : named.slice(0, 10).join('; ');
};

const identifier = (text: string): string => {
  const id = text.trim();
  // A truncated id could equal that of another notice.
  if (id === '') throw new UnreadableNotice('has no id.');
  if (id.length > noticeBounds.id) throw new UnreadableNotice('has an id that is too long.');
  return id.toWellFormed().replaceAll('\0', '\uFFFD');
};

/** A code from an official code list, checked only for its characters. */
const word = (text: string | null): string | null => /^[\w.-]{1,60}$/.exec(text?.trim() ?? '')?.[0] ?? null;

/** A normalized http or https address without credentials; null for other text. */
export function webAddress(text: string | null): string | null {
  // Some senders escape `&` twice.
  const trimmed = text?.trim().replaceAll('&amp;', '&') ?? '';
  const url = URL.parse(/^www\./i.test(trimmed) ? `https://${trimmed}` : trimmed);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') return null;
  return url.href.length > noticeBounds.url ? null : url.href;
}

// oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\uFEFF]/gu;

/** Text without markup and control characters, at most `max` characters; null if empty. `gap` decides whether line breaks stay. */
export function plain(text: string | null, max: number, { textOf }: NoticeTools, gap: ' ' | '\n'): string | null {
  if (text === null) return null;
  // Do not parse text that is cut off anyway; markup makes a text several times as long.
  const head = text.slice(0, max * 10);
  const bare = /[<&]/.test(head) ? textOf(head) : head;
  const clean = bare.toWellFormed().replaceAll(/\r\n?/g, '\n').replaceAll(controls, ' ');
  const gathered =
    gap === ' '
      ? clean.replaceAll(/\s+/g, ' ')
      : clean
          .replaceAll(/[^\S\n]+/g, ' ')
          .replaceAll(/ ?\n ?/g, '\n')
          .replaceAll(/\n{3,}/g, '\n\n');
  const trimmed = gathered.trim();
  if (trimmed === '') return null;
  return trimmed.length <= max
    ? trimmed
    : `${trimmed
        .slice(0, max - 1)
        .toWellFormed()
        .replace(/\uFFFD$/u, '')
        .trimEnd()}…`;
}

/** Cents of an amount such as `390697.84`; null for other text and for amounts beyond the safe integers. */
export function centsOf(amount: string | null): number | null {
  const [, whole, fraction = ''] = /^\s*\+?(\d{1,14})(?:\.(\d{1,20}))?\s*$/.exec(amount ?? '') ?? [];
  if (whole === undefined) return null;
  const cents = Math.round(Number(`${whole}.${fraction || '0'}`) * 100);
  return Number.isSafeInteger(cents) ? cents : null;
}

export const currencyOf = (text: string | null): string | null => /^[A-Z]{3}$/.exec(text?.trim() ?? '')?.[0] ?? null;
