import { cpvCodes, cpvDivisions } from './cpv.ts';
import { findLaender, type Place } from './laender.ts';
import { noticeBounds, type NoticeLot, type NoticeRecord } from './notice-record.ts';
import { nutsRegions } from './nuts-regions.ts';
import { portalIdsIn } from './portal-ids.ts';

/** What a reader found, texts and codes as they stand in the source. */
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
  /** In which ids of portals may stand. */
  links: string[];
}

/** A draft of which only little is going to be filled in. */
export const nothingKnown = {
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

/** Of a notice whose source knows no versions. */
export const identity = (key: string) => ({ sourceNoticeId: key, noticeKey: key, noticeVersion: 1 });

/** What this package leaves to others. */
export interface NoticeTools {
  /** The text of something that may be HTML. */
  textOf(markup: string): string;
  hash(text: string): string;
}

/** Why something that was read is no notice; a sentence without its subject: `has no title.` */
export class UnreadableNotice extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'UnreadableNotice';
  }
}

/** A notice without the bytes it was read from. */
export type ReadNotice = Omit<NoticeRecord, 'raw'>;

/** The record of a notice: texts plain and cut, lists bounded, what follows from the codes worked out. Throws an UnreadableNotice. */
export function noticeOf(draft: NoticeDraft, tools: NoticeTools): ReadNotice {
  const { cpv, places, buyer, links, lots: foundLots, ...found } = draft;
  const line = (text: string | null, max: number) => plain(text, max, tools, ' ');
  const title = line(draft.title ?? foundLots[0]?.title ?? null, noticeBounds.title);
  if (title === null) throw new UnreadableNotice('has no title.');
  let room: number = noticeBounds.lotText;
  const lotText = (text: string | null, max: number): string | null => {
    const cut = room <= 0 ? null : plain(text, Math.min(max, room), tools, '\n');
    room -= cut?.length ?? 0;
    return cut;
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

/** Every region once; the country in the European spelling of places is the region of the whole. */
const nutsOf = (places: readonly Place[]): string[] => [
  ...new Set(places.flatMap(({ nuts }) => nuts ?? []).slice(0, noticeBounds.nutsCodes)),
];

/** The towns, or the regions by name where there are none. */
const regionOf = (places: readonly Place[]): string | null => {
  const towns = places.flatMap(({ postcode, city }) => [postcode, city].filter(Boolean).join(' ') || []);
  const regions = places.flatMap(({ nuts }) => nutsRegions.get(nuts ?? '') ?? []);
  const named = [...new Set(towns.length > 0 ? towns : regions)];
  return named.length === 0 ? null : named.slice(0, 10).join('; ');
};

const identifier = (text: string): string => {
  const id = text.trim();
  // A cut id could be that of another notice.
  if (id === '') throw new UnreadableNotice('has no id.');
  if (id.length > noticeBounds.id) throw new UnreadableNotice('has an id that is too long.');
  return id.toWellFormed().replaceAll('\0', '\uFFFD');
};

/** A code of a list nobody here knows by heart. */
const word = (text: string | null): string | null => /^[\w.-]{1,60}$/.exec(text?.trim() ?? '')?.[0] ?? null;

/** An address a browser may open, as it will open it. */
export function webAddress(text: string | null): string | null {
  // Some senders escape twice.
  const trimmed = text?.trim().replaceAll('&amp;', '&') ?? '';
  const url = URL.parse(/^www\./i.test(trimmed) ? `https://${trimmed}` : trimmed);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') return null;
  return url.href.length > noticeBounds.url ? null : url.href;
}

// oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\uFEFF]/gu;

/** Text without markup and control characters, at most `max` long; null for nothing. Line breaks stay where `gap` is one. */
export function plain(text: string | null, max: number, { textOf }: NoticeTools, gap: ' ' | '\n'): string | null {
  if (text === null) return null;
  // What is cut off anyway need not be read; markup makes texts several times as long.
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

/** Cents of an amount as sources write it, `390697.84`; null for what is none or more than can be counted exactly. */
export function centsOf(amount: string | null): number | null {
  const [, whole, fraction = ''] = /^\s*\+?(\d{1,14})(?:\.(\d{1,20}))?\s*$/.exec(amount ?? '') ?? [];
  if (whole === undefined) return null;
  const cents = Math.round(Number(`${whole}.${fraction || '0'}`) * 100);
  return Number.isSafeInteger(cents) ? cents : null;
}

export const currencyOf = (text: string | null): string | null => /^[A-Z]{3}$/.exec(text?.trim() ?? '')?.[0] ?? null;
