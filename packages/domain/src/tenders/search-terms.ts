import { TenderFilters } from './filters.ts';
import { type CompiledSearch, compileFilters } from './search-query.ts';

/** What a tender may be found by, as a person put it, and the question that says whether it was. */
export interface SearchTerm {
  label: string;
  search: CompiledSearch;
}

/** Each word, phrase, code and buyer that filters ask for, by itself. */
export function termsOf({ text, cpv, buyer }: TenderFilters): SearchTerm[] {
  const term = (label: string, filters: object): SearchTerm => ({
    label,
    search: compileFilters(TenderFilters.parse(filters)),
  });
  const fields = text?.fields && { fields: text.fields };
  const words = [...(text?.all ?? []), ...(text?.any ?? []), ...(text?.phrases ?? [])];
  const terms = [
    ...words.map((word) => term(word, { text: { all: [word], ...fields } })),
    ...(cpv?.prefixes ?? []).map((prefix) => term(`CPV ${prefix}`, { cpv: { prefixes: [prefix] } })),
    ...(buyer?.any ?? []).map((name) => term(name, { buyer: { any: [name] } })),
  ];
  return [...new Map(terms.map((one) => [one.label, one])).values()].filter(
    ({ search: { all } }) => all.words !== null || all.markers !== null,
  );
}
