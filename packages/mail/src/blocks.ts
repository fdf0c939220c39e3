import { cleanLines, isolated, oneLine } from './safe-text.ts';

export interface Row {
  label: string;
  value: string;
}

/**
 * What a mail body is made of, as plain text; escaping happens where it becomes HTML. Both forms of a mail are
 * derived from these, so they cannot drift apart.
 */
export type Block =
  | { kind: 'paragraph'; text: string }
  | { kind: 'hint'; text: string }
  | { kind: 'button'; label: string; url: string }
  | { kind: 'rows'; rows: Row[] }
  | { kind: 'entry'; title: string; rows: Row[] };

const sentence = (literals: TemplateStringsArray, values: readonly (string | number)[]): string =>
  String.raw({ raw: literals }, ...values.map((value) => isolated(oneLine(String(value)))));

/** A paragraph; whatever is put into it stays text on one line. */
export const p = (literals: TemplateStringsArray, ...values: readonly (string | number)[]): Block => ({
  kind: 'paragraph',
  text: sentence(literals, values),
});

/** A remark set apart from the text around it. */
export const hint = (literals: TemplateStringsArray, ...values: readonly (string | number)[]): Block => ({
  kind: 'hint',
  text: sentence(literals, values),
});

/** Somebody's own text of several lines: blank lines part paragraphs, single line ends stay. */
export const prose = (text: string): Block[] =>
  cleanLines(text)
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => ({ kind: 'paragraph', text: paragraph }));

/** The one thing to do next. Plain text shows the address on a line of its own. */
export const button = (url: string, label: string): Block => ({ kind: 'button', url, label });

const filled = (entries: Record<string, string>): Row[] =>
  Object.entries(entries)
    .map(([label, value]) => ({ label, value: oneLine(value) }))
    .filter((row) => row.value !== '');

/** Facts as label and value; an empty value leaves its row out. */
export const rows = (entries: Record<string, string>): Block => ({ kind: 'rows', rows: filled(entries) });

/** One of a list that may be long: its title and a few facts, in as little HTML as they need. Gmail cuts a mail off after 102 kB. */
export const entry = (title: string, facts: Record<string, string>): Block => ({
  kind: 'entry',
  title: isolated(oneLine(title)),
  rows: filled(facts),
});
