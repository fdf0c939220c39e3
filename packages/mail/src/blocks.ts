import { cleanLines, isolated, oneLine } from './safe-text.ts';

export interface Row {
  label: string;
  value: string;
}

/**
 * A part of a mail body, as plain text; the HTML layout escapes it. HTML and plain text are both built from these blocks, so they
 * cannot drift apart.
 */
export type Block =
  | { kind: 'paragraph'; text: string }
  | { kind: 'hint'; text: string }
  | { kind: 'button'; label: string; url: string }
  | { kind: 'rows'; rows: Row[] }
  | { kind: 'entry'; title: string; rows: Row[] };

const sentence = (literals: TemplateStringsArray, values: readonly (string | number)[]): string =>
  String.raw({ raw: literals }, ...values.map((value) => isolated(oneLine(String(value)))));

/** A paragraph; each inserted value stays text on one line. */
export const p = (literals: TemplateStringsArray, ...values: readonly (string | number)[]): Block => ({
  kind: 'paragraph',
  text: sentence(literals, values),
});

/** A remark set apart from the text around it. */
export const hint = (literals: TemplateStringsArray, ...values: readonly (string | number)[]): Block => ({
  kind: 'hint',
  text: sentence(literals, values),
});

/** Free text of several lines: blank lines separate paragraphs, single line breaks stay. */
export const prose = (text: string): Block[] =>
  cleanLines(text)
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => ({ kind: 'paragraph', text: paragraph }));

/** The next action. Plain text shows the address on its own line. */
export const button = (url: string, label: string): Block => ({ kind: 'button', url, label });

const filled = (entries: Record<string, string>): Row[] =>
  Object.entries(entries)
    .map(([label, value]) => ({ label, value: oneLine(value) }))
    .filter((row) => row.value !== '');

/** Labels and values; rows with an empty value are left out. */
export const rows = (entries: Record<string, string>): Block => ({ kind: 'rows', rows: filled(entries) });

/** An entry of a list that may be long: its title and a few facts, in minimal HTML because Gmail cuts off mails after 102 kB. */
export const entry = (title: string, facts: Record<string, string>): Block => ({
  kind: 'entry',
  title: isolated(oneLine(title)),
  rows: filled(facts),
});
