import { z } from 'zod';
import { changedNotice, formOfNoticeType, natureOf, nutsCode } from './eforms.ts';
import type { Place } from './laender.ts';
import { centsOf, currencyOf, type NoticeDraft, UnreadableNotice } from './notice-draft.ts';
import { noticeForms } from './notice-record.ts';
import { dayOf, deadlineOf, startOfDay } from './notice-times.ts';
import { publicationNumber, uuidOf } from './portal-ids.ts';

/** The fields requested from the search API. With 250 notices per page, forty fields are the maximum. */
export const tedFields = [
  'publication-number',
  'publication-date',
  'notice-identifier',
  'notice-version',
  'procedure-identifier',
  'notice-type',
  'notice-subtype',
  'form-type',
  'official-language',
  'notice-title',
  'title-proc',
  'description-proc',
  'identifier-lot',
  'title-lot',
  'description-lot',
  'buyer-name',
  'buyer-city',
  'buyer-post-code',
  'buyer-country',
  'buyer-country-sub',
  'classification-cpv',
  'main-classification-proc',
  'place-of-performance',
  'place-of-performance-city-lot',
  'place-of-performance-post-code-lot',
  'deadline-receipt-tender-date-lot',
  'deadline-receipt-tender-time-lot',
  'deadline-receipt-request-date-lot',
  'deadline-receipt-request-time-lot',
  'deadline-receipt-expressions-date-lot',
  'procedure-type',
  'contract-nature',
  'estimated-value-proc',
  'estimated-value-cur-proc',
  'framework-estimated-value',
  'document-url-lot',
  'change-notice-version-identifier',
  'change-reason-code',
  'links',
] as const;

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);
/** A value can be a scalar, a list or missing; anything else counts as missing. */
const Values = z
  .union([scalar.transform((value) => [value]), z.array(scalar.catch('')), z.null().transform((): string[] => [])])
  .catch([])
  .transform((values) => values.filter((value) => value.trim() !== ''));
const ByLanguage = z.record(z.string(), Values).catch({});

/** One notice of an answer, not yet checked. */
export const TedNotice = z.record(z.string(), z.unknown());
export type TedNotice = z.output<typeof TedNotice>;

/** Reads one notice of the TED search API. Throws an UnreadableNotice. */
export function readTedNotice(notice: TedNotice): NoticeDraft {
  const list = (field: (typeof tedFields)[number]): string[] => Values.parse(notice[field]).slice(0, 1_000);
  const one = (field: (typeof tedFields)[number]): string | null => list(field)[0] ?? null;
  const languages = list('official-language').map((language) => language.toLowerCase());
  const words = (field: (typeof tedFields)[number]): string[] => {
    const texts = ByLanguage.parse(notice[field]);
    const language = ['deu', ...languages, ...Object.keys(texts)].find((each) => (texts[each]?.length ?? 0) > 0);
    return language === undefined ? list(field) : (texts[language] ?? []);
  };

  const number = publicationNumber(one('publication-number'));
  if (number === null) throw new UnreadableNotice('has no publication number.');
  const day = dayOf(one('publication-date'));
  if (day === null) throw new UnreadableNotice('has no publication date.');
  const version = /^0*(\d{1,6})$/.exec(one('notice-version') ?? '1')?.[1];
  const type = one('notice-type');
  const listed = one('form-type');
  const changes = changedNotice(one('change-notice-version-identifier'));
  const reasons = list('change-reason-code');
  const lotIds = list('identifier-lot').filter((id) => !id.startsWith('GLO-'));
  const valueCents = centsOf(one('estimated-value-proc')) ?? centsOf(one('framework-estimated-value'));
  const titles = words('title-lot');
  const descriptions = words('description-lot');

  return {
    sourcePortal: 'ted',
    sourceNoticeId: number,
    noticeKey: number,
    noticeVersion: Number(version ?? 1),
    sourceUrl: pageOf(notice['links']) ?? `https://ted.europa.eu/de/notice/-/detail/${number}`,
    sourceDay: day,
    noticeUuid: uuidOf(one('notice-identifier')),
    publicationNumber: number,
    bundId: null,
    procedureUuid: uuidOf(one('procedure-identifier')),
    changes,
    isCorrection: changes !== null,
    isCancelled: reasons.includes('cancel'),
    form: noticeForms.find((form) => form === listed && form !== 'change') ?? formOfNoticeType(type ?? ''),
    noticeType: type,
    subtype: one('notice-subtype'),
    procedureType: one('procedure-type'),
    nature: natureOf(one('contract-nature')),
    language: languages[0] ?? null,
    title: words('title-proc')[0] ?? words('notice-title')[0] ?? null,
    description: words('description-proc')[0] ?? null,
    buyerName: words('buyer-name')[0] ?? null,
    buyer: {
      nuts: nutsCode(one('buyer-country-sub')),
      postcode: one('buyer-post-code'),
      city: words('buyer-city')[0] ?? null,
      country: one('buyer-country'),
      anywhere: null,
    },
    cpv: [...list('main-classification-proc'), ...list('classification-cpv')],
    places: placesOf(list('place-of-performance'), {
      cities: words('place-of-performance-city-lot'),
      postcodes: list('place-of-performance-post-code-lot'),
    }),
    publishedAt: startOfDay(day),
    deadlines: [
      ...deadlines('tender', list('deadline-receipt-tender-date-lot'), list('deadline-receipt-tender-time-lot')),
      ...deadlines(
        'participation',
        list('deadline-receipt-request-date-lot'),
        list('deadline-receipt-request-time-lot'),
      ),
      ...deadlines('interest', list('deadline-receipt-expressions-date-lot'), []),
    ],
    valueCents,
    currency: valueCents === null ? null : currencyOf(one('estimated-value-cur-proc')),
    documentsUrl: one('document-url-lot'),
    // The lists of lots are parallel only if none has a gap.
    lots: lotIds.map((id, n) => ({
      id,
      title: (titles.length === lotIds.length ? titles[n] : null) ?? null,
      description: (descriptions.length === lotIds.length ? descriptions[n] : null) ?? null,
      cpv: [],
      places: [],
      valueCents: null,
      currency: null,
    })),
    links: list('document-url-lot').slice(0, 50),
  };

  function deadlines(kind: 'tender' | 'participation' | 'interest', dates: string[], times: string[]) {
    return dates.flatMap((date, n) => {
      const time = (times.length === dates.length ? times[n] : times.length === 1 ? times[0] : null) ?? null;
      const lotId = (lotIds.length === dates.length ? lotIds[n] : null) ?? null;
      return deadlineOf({ date, time }, { kind, lotId, isMidnightADate: false }) ?? [];
    });
  }
}

/** TED lists regions and countries together; if there are regions besides Germany, the regions count. */
function placesOf(codes: string[], { cities, postcodes }: { cities: string[]; postcodes: string[] }): Place[] {
  const nowhere = { nuts: null, postcode: null, city: null, country: null, anywhere: null };
  const regions = codes.flatMap((code): Place[] => {
    const nuts = nutsCode(code);
    return nuts === null ? [] : [{ ...nowhere, nuts }];
  });
  const isGerman = regions.some(({ nuts }) => nuts?.startsWith('DE'));
  const towns = [...new Set(cities)].map((city): Place => ({ ...nowhere, city, country: isGerman ? 'DE' : 'other' }));
  const zones = [...new Set(postcodes)].map((postcode): Place => ({
    ...nowhere,
    postcode,
    country: isGerman ? 'DE' : 'other',
  }));
  // With several regions, TED does not tell which town lies in which region.
  return [...regions, ...(towns.length === 0 ? zones : towns)];
}

const Links = z.object({ html: z.record(z.string(), z.string()) });

function pageOf(links: unknown): string | null {
  const { html } = Links.safeParse(links).data ?? {};
  return html?.['DEU'] ?? html?.['ENG'] ?? null;
}
