import type { TenderFilters } from './filters.ts';
import { marker } from './markers.ts';
import { fold } from './words.ts';

/** A query of the PostgreSQL text search. */
interface Question {
  /** For `to_tsquery('german', …)`, which reduces words to their stems. */
  words: string | null;
  /** Markers, which must not be stemmed. */
  markers: string | null;
}

/**
 * Filters compiled into a text query and bounds. The list, its facets and the matcher use the same compiled form, so all of them find the
 * same tenders.
 */
export interface CompiledSearch {
  /** Words and markers that must all match. */
  all: Question;
  /** Words and markers of which at least one must match, too. */
  either: Question | null;
  /** Text that must all occur in the titles, unless one of the markers matches; null without such a condition. */
  contains: { pieces: string[]; orMarkers: string | null } | null;
  /** Whether only open calls match; false if the filters name notice kinds. */
  isOpenOnly: boolean;
  deadline: { minDays: number | null; maxDays: number | null; includeUnknown: boolean } | null;
  sinceDays: number | null;
  value: { minCents: number | null; maxCents: number | null; currency: string; includeUnknown: boolean } | null;
  sources: string[] | null;
}

/** Parts of the search document by their weight. */
const weightOf = { title: 'A', lots: 'B', buyer: 'C', description: 'D' } as const;

export function compileFilters(filters: TenderFilters): CompiledSearch {
  const { text, cpv, region, buyer, kinds, procedureTypes, natures, value, sources } = filters;
  const weights = (text?.fields ?? []).map((field) => weightOf[field]).join('');
  const inText = (term: string) => termQuery(term, weights);
  const inBuyer = (name: string) => allOf(name.split(/\s+/).map((word) => termQuery(word, weightOf.buyer)));

  const words = allOf([
    ...(text?.all ?? []).map(inText),
    anyOf((text?.any ?? []).map(inText)),
    ...(text?.phrases ?? []).map(inText),
  ]);
  const codes = markerOf(cpv?.prefixes, marker.cpv, cpv?.includeMissing === true ? [marker.cpvMissing] : []);
  const pieces = (text?.contains ?? []).map(fold);
  // (words or codes) and (pieces or codes) equals (words and pieces) or codes.
  const isAny = filters.combine === 'any' && codes !== null;
  const isEither = isAny && words !== null;
  const areCodesAsked = !isEither && !(isAny && pieces.length > 0);

  const places = [...(region?.laender ?? []).map(marker.land), ...(region?.nuts ?? []).map(marker.nuts)];
  const elsewhere = [
    ...(region?.includeNationwide === false ? [] : [marker.nationwide]),
    ...(region?.includeUnknown === true ? [marker.regionUnknown] : []),
  ];
  return {
    all: {
      words: allOf([
        isEither ? null : words,
        anyOf((buyer?.any ?? []).map(inBuyer)),
        noneOf([...(text?.none ?? []).map(inText), ...(buyer?.none ?? []).map(inBuyer)]),
      ]),
      markers: allOf([
        areCodesAsked ? codes : null,
        markerOf(places, (place) => place, elsewhere),
        markerOf(kinds, marker.form),
        markerOf(procedureTypes, marker.procedure),
        markerOf(natures, marker.nature),
        noneOf([
          ...(cpv?.exclude ?? []).map((prefix) => quoted(marker.cpv(prefix))),
          ...(filters.includeRss ? [] : [quoted(marker.feed)]),
        ]),
      ]),
    },
    either: isEither ? { words, markers: codes } : null,
    contains: pieces.length === 0 ? null : { pieces, orMarkers: isAny ? codes : null },
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

/** Matches one of the requested markers or one of `others`; null if no marker is requested. */
const markerOf = (asked: readonly string[] | undefined, name: (key: string) => string, others: string[] = []) =>
  asked === undefined || asked.length === 0 ? null : anyOf([...asked.map(name), ...others].map(quoted));

type Part = string | null;
const join = (parts: Part[], operator: ' & ' | ' | '): Part => {
  const asked = parts.filter((part) => part !== null);
  return asked.length === 0 ? null : asked.length === 1 ? (asked[0] ?? null) : `(${asked.join(operator)})`;
};
const allOf = (parts: Part[]): Part => join(parts, ' & ');
const anyOf = (parts: Part[]): Part => join(parts, ' | ');
const noneOf = (parts: Part[]): Part => {
  const named = anyOf(parts);
  return named === null ? null : `!${named}`;
};

/** The query of a word, a phrase or a prefix (`reinig*`), with and without umlauts; null if it contains no word. */
function termQuery(term: string, weights: string): Part {
  const isPrefix = /[\p{L}\p{N}]{3}\*$/u.test(term);
  const label = `${isPrefix ? '*' : ''}${weights}`;
  const spellings = [...new Set([term.normalize('NFC').toLowerCase(), fold(term)])].map(lettersOf);
  return hasWord(term) ? anyOf(spellings.map((text) => quoted(text) + (label === '' ? '' : `:${label}`))) : null;
}

/** Removes characters that PostgreSQL could read as an operator or as the end of the text. */
const lettersOf = (text: string): string => text.replaceAll(/[^\p{L}\p{M}\p{N}.+#/@_-]+/gu, ' ').trim();

const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

const quoted = (text: string): string => `'${text}'`;

/**
 * Parses typed text: words that must all occur, "phrases", and -words that must not occur. Every text is valid; the caller limits the
 * number of words.
 */
export function readSearchText(typed: string): NonNullable<TenderFilters['text']> {
  const text: NonNullable<TenderFilters['text']> = { all: [], any: [], phrases: [], none: [], contains: [] };
  for (const [, minus, phrase, word] of typed.matchAll(/(-?)(?:"([^"]*)"|(\S+))/g)) {
    const term = (phrase ?? word ?? '').replaceAll('"', ' ').trim();
    if (!hasWord(term)) continue;
    if (minus) text.none.push(term);
    else if (phrase === undefined) text.all.push(term);
    else text.phrases.push(term);
  }
  return text;
}
