import { formatNumber } from '../language.ts';
import { cpvName } from './cpv-divisions.ts';
import { nameIn, names } from './names.ts';
import type { Filters } from './search-draft.ts';
import { texts } from './search-texts.ts';

/** The filters of a saved search in a few words. */
export function summaryOf(filters: Filters, sourceName: (key: string) => string): string {
  const t = texts.value;
  const { laender, noticeTypes, natures } = names.value;
  const { text, cpv, combine, region, deadline, published, buyer, kinds, value, sources } = filters;
  const codes = [
    ...(cpv?.prefixes ?? []).map(cpvName),
    ...(cpv?.exclude ?? []).map((code) => t.without(cpvName(code))),
  ];
  const words = [
    ...(text?.all ?? []),
    ...(text?.any.length ? [text.any.join(' / ')] : []),
    ...(text?.phrases ?? []).map((phrase) => `“${phrase}”`),
    ...(text?.contains ?? []).map((part) => `*${part}*`),
    ...(text?.none ?? []).map(t.without),
  ];
  const isEither = combine === 'any' && words.length > 0 && codes.length > 0;
  const amount = (whole: number) => `${formatNumber(whole, 0)} ${value?.currency ?? ''}`;
  const parts = [
    ...(isEither ? [`${words.join(' · ')} ${t.orCodes} ${codes.join(' · ')}`] : [...words, ...codes]),
    ...(region?.laender ?? []).map((key) => nameIn(laender, key)),
    ...(region?.nuts ?? []),
    ...(buyer?.any ?? []),
    ...(buyer?.none ?? []).map(t.without),
    ...(kinds ?? []).map((key) => nameIn(noticeTypes, key)),
    ...(filters.procedureTypes ?? []),
    ...(filters.natures ?? []).map((key) => nameIn(natures, key)),
    ...number(deadline?.minDays, t.days.min),
    ...number(deadline?.maxDays, t.days.max),
    ...number(published?.sinceDays, t.since),
    ...number(value?.min, (min) => t.valueFrom(amount(min))),
    ...number(value?.max, (max) => t.valueTo(amount(max))),
    ...(sources ?? []).map(sourceName),
  ];
  return parts.join(' · ') || t.everything;
}

const number = (value: number | null | undefined, say: (value: number) => string): string[] =>
  value === null || value === undefined ? [] : [say(value)];
