import type { TenderFilters } from './filters.ts';
import { marker } from './markers.ts';
import { fold } from './words.ts';

/**
 * Filters as the database is asked: two questions of its text search, and bounds. The list, facets and whatever tells people of new
 * tenders all ask this way, so none of them finds what another does not.
 */
export interface CompiledSearch {
  /** Words, for `to_tsquery('german', …)`, which brings them to their stems. */
  words: string | null;
  /** Markers that do instead of the words. */
  orMarkers: string | null;
  /** Markers that have to be there, or must not. */
  markers: string | null;
  /** Calls that are still open, and not whatever `kinds` named. */
  isOpenOnly: boolean;
  deadline: { minDays: number | null; maxDays: number | null; includeUnknown: boolean } | null;
  sinceDays: number | null;
  value: { minCents: number | null; maxCents: number | null; currency: string; includeUnknown: boolean } | null;
  sources: string[] | null;
}

/** Weights of the document: title, lots and codes, buyer, description. */
const weightOf = { title: 'A', lots: 'B', description: 'D' };
const buyerWeight = 'C';

export function compileFilters(filters: TenderFilters): CompiledSearch {
  const { text, cpv, region, buyer, kinds, procedureTypes, natures, value, sources } = filters;
  const weights = (text?.fields ?? []).map((field) => weightOf[field]).join('');
  const word = (term: string) => termQuery(term, weights);
  const buyerWord = (term: string) => allOf(term.split(/\s+/).map((one) => termQuery(one, buyerWeight)));

  const wordsAsked = allOf([
    ...(text?.all ?? []).map(word),
    anyOf((text?.any ?? []).map(word)),
    ...(text?.phrases ?? []).map(word),
  ]);
  const codes = anyOf([
    ...(cpv?.prefixes ?? []).map((prefix) => quoted(marker.cpv(prefix))),
    ...(cpv?.includeMissing === true && cpv.prefixes.length > 0 ? [quoted(marker.cpvMissing)] : []),
  ]);
  const isEither = filters.combine === 'any' && wordsAsked !== null && codes !== null;

  const places = [
    ...(region?.laender ?? []).map((land) => quoted(marker.land(land))),
    ...(region?.nuts ?? []).map((code) => quoted(marker.nuts(code))),
  ];
  if (places.length > 0 && region?.includeNationwide !== false) places.push(quoted(marker.nationwide));
  if (places.length > 0 && region?.includeUnknown === true) places.push(quoted(marker.regionUnknown));

  const excluded = [...(text?.none ?? []).map(word), ...(buyer?.none ?? []).map(buyerWord)];
  const excludedMarkers = [
    ...(cpv?.exclude ?? []).map((prefix) => quoted(marker.cpv(prefix))),
    ...(filters.includeRss ? [] : [quoted(marker.feed)]),
  ];
  const besides = allOf([anyOf((buyer?.any ?? []).map(buyerWord)), noneOf(excluded)]);
  return {
    // What has to be there besides is asked on both sides of an "or".
    words: isEither ? null : allOf([wordsAsked, besides]),
    orMarkers: null,
    markers: allOf([
      isEither ? null : codes,
      anyOf(places),
      anyOf((kinds ?? []).map((kind) => quoted(marker.form(kind)))),
      anyOf((procedureTypes ?? []).map((type) => quoted(marker.procedure(type)))),
      anyOf((natures ?? []).map((nature) => quoted(marker.nature(nature)))),
      noneOf(excludedMarkers),
    ]),
    isOpenOnly: kinds === undefined || kinds.length === 0,
    deadline: filters.deadline ?? null,
    sinceDays: filters.published?.sinceDays ?? null,
    value: value
      ? {
          minCents: value.min === null ? null : value.min * 100,
          maxCents: value.max === null ? null : value.max * 100,
          currency: value.currency,
          includeUnknown: value.includeUnknown,
        }
      : null,
    sources: sources?.length ? sources : null,
  };
}
