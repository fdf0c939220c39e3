import { z } from 'zod';
import { Id } from '@portal/domain/ids';
import { CpvPrefix, Land, NoticeFormKey, SourceKey, type TenderFilters } from '@portal/domain/tenders/filters';
import { readSearchText } from '@portal/domain/tenders/search-query';
import { line } from '@portal/domain/text';
import { Instant } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { filtersOf } from '@portal/usecases/tenders/alerts/saved-searches';

/** Several values, comma-separated. */
const several = <Value extends z.ZodType<unknown, string>>(value: Value, max: number) =>
  z
    .string()
    .max(4_000)
    .transform((list) => list.split(',').map((one) => one.trim()))
    .pipe(z.array(value).min(1).max(max));

const flag = z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' });

/** Words per search (the limit of `TenderFilters`). */
const maxWords = 20;

const SearchText = line(200).refine((typed) => {
  const { all, phrases, none } = readSearchText(typed);
  return all.length + phrases.length + none.length <= maxWords;
}, `must not contain more than ${maxWords} words`);

/** A short form of `TenderFilters`; absolute times and triage exist only here. */
export const TenderQuery = z.object({
  q: SearchText.optional().describe(
    'Words that must all occur, phrases in quotation marks, `-words` that must not occur, and beginnings of words with a star (`reinig*`). Umlauts may be spelled out. A word is also found at the beginning and the end of a longer word',
  ),
  cpv: several(CpvPrefix, 50).optional().describe('First digits of CPV codes, comma-separated'),
  bundesland: several(Land, 16)
    .optional()
    .describe('Federal states, comma-separated; nationwide tenders match every state'),
  source: several(SourceKey, 50).optional(),
  buyer: line(200).optional().describe('Words in the buyer’s name'),
  publishedFrom: Instant.optional(),
  publishedTo: Instant.optional(),
  deadlineFrom: Instant.optional().describe('Tenders without a known deadline always match'),
  deadlineTo: Instant.optional().describe('Tenders without a known deadline always match'),
  noticeType: several(NoticeFormKey, 8).optional().describe('If left out, calls for competition that are still open'),
  favorite: flag.optional(),
  unread: flag.optional(),
  savedSearchId: Id.optional().describe(
    'Lists the tenders this saved search finds; the other parameters narrow the result',
  ),
});

/** The search that the parameters describe; `savedSearchId` adds the filters of that saved search. Throws 404 if there is none. */
export async function askedOf(ctx: UserContext, { savedSearchId, ...query }: z.output<typeof TenderQuery>) {
  const asked = askedBy(query);
  if (savedSearchId === undefined) return asked;
  return {
    ...asked,
    filters: await filtersOf(ctx, savedSearchId),
    triage: { ...asked.triage, narrower: asked.filters },
  };
}

/** The search that the parameters describe, without a saved search. */
export function askedBy({
  q,
  cpv,
  bundesland,
  source,
  buyer,
  noticeType,
  favorite,
  unread,
  ...window
}: Omit<z.output<typeof TenderQuery>, 'savedSearchId'>) {
  const filters: TenderFilters = {
    version: 1,
    combine: 'all',
    includeRss: true,
    ...(q !== undefined && { text: readSearchText(q) }),
    ...(cpv && { cpv: { prefixes: cpv, exclude: [], includeMissing: false } }),
    ...(bundesland && { region: { laender: bundesland, nuts: [], includeNationwide: true, includeUnknown: false } }),
    ...(buyer !== undefined && { buyer: { any: [buyer], none: [] } }),
    ...(noticeType && { kinds: noticeType }),
    ...(source && { sources: source }),
  };
  return { filters, window, triage: { favorite, unread } };
}
