import type { TenderFilters } from './filters.ts';
import { marker } from './markers.ts';
import { fold } from './words.ts';

/** A question of the database's text search. */
interface Question {
  /** For `to_tsquery('german', …)`, which brings words to their stems. */
  words: string | null;
  /** Markers, which have none. */
  markers: string | null;
}

/**
 * Filters as the database is asked: in its text search, and by bounds. The list, its facets and whatever tells people of new tenders
 * ask this way, so none of them finds what another does not.
 */
export interface CompiledSearch {
  /** What has to be true, words and markers. */
  all: Question;
  /** Of which one has to be true besides. */
  either: Question | null;
  /** Pieces that all have to stand in the titles, unless one of the markers does; null where none is asked for. */
  contains: { pieces: string[]; orMarkers: string | null } | null;
  /** Only calls that are still open; otherwise whatever `all` names. */
  isOpenOnly: boolean;
  deadline: { minDays: number | null; maxDays: number | null; includeUnknown: boolean } | null;
  sinceDays: number | null;
  value: { minCents: number | null; maxCents: number | null; currency: string; includeUnknown: boolean } | null;
  sources: string[] | null;
}

/** Parts of the document a word may be looked for in. */
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
  // Words or codes, and pieces or codes: together that is words and pieces, or codes.
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

/** One of the asked markers, or of those that go with any of them. */
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

/** A word, a phrase, or with a star behind it the beginning of a word, with and without umlauts; null where nothing of it is a word. */
function termQuery(term: string, weights: string): Part {
  const isBeginning = /[\p{L}\p{N}]{3}\*$/u.test(term);
  const label = `${isBeginning ? '*' : ''}${weights}`;
  const spellings = [...new Set([term.normalize('NFC').toLowerCase(), fold(term)])].map(lettersOf);
  return hasWord(term) ? anyOf(spellings.map((text) => quoted(text) + (label === '' ? '' : `:${label}`))) : null;
}

/** What the database takes for words; nothing that it could take for an operator or the end of a text. */
const lettersOf = (text: string): string => text.replaceAll(/[^\p{L}\p{M}\p{N}.+#/@_-]+/gu, ' ').trim();

const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

const quoted = (text: string): string => `'${text}'`;

/**
 * What somebody typed, as filters: words that all have to be there, "phrases", and -words that must not. Any text is one, and
 * none of it an error, but for its number of words.
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
