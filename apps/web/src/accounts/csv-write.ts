import { saveFile } from '../ui/file-transfer.ts';
import type { Separator } from './csv-read.ts';

/** A cell; null stays empty. */
export type CsvValue = string | number | null;

/**
 * The text of a CSV file for spreadsheets: each cell is one line, and none is read as a formula. The byte order mark tells Excel that the
 * text is UTF-8.
 */
export function csvText(rows: readonly (readonly CsvValue[])[], separator: Exclude<Separator, '\t'>): string {
  const lines = rows.map((row) => row.map((value) => cellText(value)).join(separator));
  return `\uFEFF${lines.join('\r\n')}\r\n`;
}

function cellText(value: CsvValue): string {
  const text = withoutFormula(String(value ?? ''));
  return /[",;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Puts `'` before what a spreadsheet would calculate, also behind each separator, where a program with another separator begins a cell. */
const withoutFormula = (text: string): string =>
  text
    .replace(/^\t/, "'\t")
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/(^|[,;])(\s*)(?=[=+\-@＝＋－＠])/gu, "$1$2'");

/** Takes back what `csvText` put before a formula. */
export const withoutMark = (text: string): string => text.replace(/^'(?=\s*[=+\-@＝＋－＠])/u, '');

/** Offers the text for saving. */
export const downloadCsv = (name: string, text: string): void =>
  saveFile({ name, blob: new Blob([text], { type: 'text/csv;charset=utf-8' }) });
