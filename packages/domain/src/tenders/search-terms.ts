import { TenderFilters } from './filters.ts';
import { type CompiledSearch, compileFilters } from './search-query.ts';

/** A term as the user entered it, and the search that tells whether a tender matches it. */
export interface SearchTerm {
  label: string;
  search: CompiledSearch;
}

/** The words, phrases, codes and buyers in filters, each as a separate search. */
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
