import type { SavedSearch } from '@portal/client/interface';
import { isLand, isNature, isNoticeType, type Land, type Nature, type NoticeType } from './names.ts';

export type Filters = SavedSearch['filters'];

/** The filters of a saved search as a person edits them: lists of words and numbers are texts. */
export interface SearchDraft {
  all: string;
  any: string;
  phrases: string;
  none: string;
  contains: string;
  cpv: string;
  cpvExclude: string;
  cpvMissing: boolean;
  combine: Filters['combine'];
  laender: readonly string[];
  nationwide: boolean;
  regionUnknown: boolean;
  minDays: string;
  maxDays: string;
  deadlineUnknown: boolean;
  sinceDays: string;
  buyer: string;
  buyerNone: string;
  kinds: readonly string[];
  natures: readonly string[];
  minValue: string;
  maxValue: string;
  valueUnknown: boolean;
  sources: readonly string[];
  includeRss: boolean;
}

export function draftOf({
  text,
  cpv,
  combine,
  region,
  deadline,
  published,
  buyer,
  kinds,
  natures,
  value,
  sources,
  includeRss,
}: Filters): SearchDraft {
  return {
    all: joined(text?.all),
    any: joined(text?.any),
    phrases: joined(text?.phrases),
    none: joined(text?.none),
    contains: joined(text?.contains),
    cpv: joined(cpv?.prefixes),
    cpvExclude: joined(cpv?.exclude),
    cpvMissing: cpv?.includeMissing ?? false,
    combine,
    laender: region?.laender ?? [],
    nationwide: region?.includeNationwide ?? true,
    regionUnknown: region?.includeUnknown ?? false,
    minDays: numberText(deadline?.minDays),
    maxDays: numberText(deadline?.maxDays),
    deadlineUnknown: deadline?.includeUnknown ?? true,
    sinceDays: numberText(published?.sinceDays),
    buyer: joined(buyer?.any),
    buyerNone: joined(buyer?.none),
    kinds: kinds ?? [],
    natures: natures ?? [],
    minValue: numberText(value?.min),
    maxValue: numberText(value?.max),
    valueUnknown: value?.includeUnknown ?? true,
    sources: sources ?? [],
    includeRss,
  };
}

/** The filters of a draft. What the form does not show is kept from `base`. A block without a condition is left out. */
export function filtersOfDraft(draft: SearchDraft, base: Filters): Filters {
  const words = {
    all: split(draft.all),
    any: split(draft.any),
    phrases: split(draft.phrases),
    none: split(draft.none),
    contains: split(draft.contains),
  };
  const cpv = { prefixes: split(draft.cpv), exclude: split(draft.cpvExclude), includeMissing: draft.cpvMissing };
  const laender: Land[] = draft.laender.filter(isLand);
  const nuts = base.region?.nuts ?? [];
  const buyer = { any: split(draft.buyer), none: split(draft.buyerNone) };
  const kinds: NoticeType[] = draft.kinds.filter(isNoticeType);
  const natures: Nature[] = draft.natures.filter(isNature);
  const deadline = {
    minDays: numberIn(draft.minDays),
    maxDays: numberIn(draft.maxDays),
    includeUnknown: draft.deadlineUnknown,
  };
  const value = {
    min: numberIn(draft.minValue),
    max: numberIn(draft.maxValue),
    currency: base.value?.currency ?? 'EUR',
    includeUnknown: draft.valueUnknown,
  };
  const sinceDays = numberIn(draft.sinceDays);
  const { fields } = base.text ?? {};
  return {
    version: 1,
    combine: draft.combine,
    includeRss: draft.includeRss,
    ...(Object.values(words).some(hasAny) && { text: { ...words, ...(fields && { fields }) } }),
    ...((hasAny(cpv.prefixes) || hasAny(cpv.exclude)) && { cpv }),
    ...((hasAny(laender) || hasAny(nuts)) && {
      region: { laender, nuts, includeNationwide: draft.nationwide, includeUnknown: draft.regionUnknown },
    }),
    ...((deadline.minDays !== null || deadline.maxDays !== null || !deadline.includeUnknown) && { deadline }),
    ...(sinceDays !== null && { published: { sinceDays } }),
    ...((hasAny(buyer.any) || hasAny(buyer.none)) && { buyer }),
    ...(hasAny(kinds) && { kinds }),
    ...(base.procedureTypes && { procedureTypes: base.procedureTypes }),
    ...(hasAny(natures) && { natures }),
    ...((value.min !== null || value.max !== null || !value.includeUnknown) && { value }),
    ...(hasAny(draft.sources) && { sources: [...draft.sources] }),
  };
}

/** True if the filters match every open tender: then there can be no instant alert. */
export const areEmpty = (filters: Filters): boolean => {
  const { text, cpv, region, buyer, value, deadline } = filters;
  const lists = [
    ...(text ? [text.all, text.any, text.phrases, text.none, text.contains] : []),
    ...(cpv ? [cpv.prefixes, cpv.exclude] : []),
    ...(region ? [region.laender, region.nuts] : []),
    ...(buyer ? [buyer.any, buyer.none] : []),
    filters.kinds ?? [],
    filters.procedureTypes ?? [],
    filters.natures ?? [],
    filters.sources ?? [],
  ];
  const bounds = [deadline?.minDays, deadline?.maxDays, filters.published?.sinceDays, value?.min, value?.max];
  return (
    !lists.some(hasAny) &&
    bounds.every((bound) => bound === null || bound === undefined) &&
    deadline?.includeUnknown !== false &&
    value?.includeUnknown !== false &&
    filters.includeRss
  );
};

const hasAny = (list: readonly unknown[]): boolean => list.length > 0;

/** Entries are separated by commas; by semicolons if one contains a comma. */
const joined = (entries: readonly string[] = []): string =>
  entries.some((entry) => entry.includes(',')) ? `${entries.join('; ')};` : entries.join(', ');

function split(text: string): string[] {
  const parts = text.split(text.includes(';') ? ';' : ',').map((part) => part.trim());
  return [...new Set(parts.filter(Boolean))];
}

const numberText = (value: number | null | undefined): string =>
  value === null || value === undefined ? '' : String(value);

/** The service says what is wrong with a number that is none of its own. */
const numberIn = (text: string): number | null => (text.trim() === '' ? null : Number(text));
