/** More is refused before anything is read. */
export const csvLimits = { bytes: 2 * 1_024 * 1_024, rows: 5_000 } as const;

export type CsvProblem = 'tooLarge' | 'tooManyRows' | 'empty' | 'openQuote' | 'notText';

export type CsvTable = { header: string[]; rows: CsvRow[] } | { problem: CsvProblem; line?: number };

export interface CsvRow {
  /** Where the row begins in the file; the first line is 1. */
  line: number;
  cells: string[];
}

/** Reads a file that has a header and at most 5,000 rows. Its columns are separated by semicolons, commas or tabs. */
export function readCsv(bytes: Uint8Array): CsvTable {
  if (bytes.length > csvLimits.bytes) return { problem: 'tooLarge' };
  const text = decoded(bytes);
  if (text.includes('\0')) return { problem: 'notText' };
  const read = parseCsv(text, csvLimits.rows + 1);
  if ('problem' in read) return read;
  const [header, ...rows] = read.rows;
  if (!header) return { problem: 'empty' };
  return { header: header.cells.map((cell) => cell.trim()), rows };
}

/** UTF-8 with or without a byte order mark, and UTF-16 with one. Bytes that are no UTF-8 are Windows-1252, as Excel saves. */
export function decoded(bytes: Uint8Array): string {
  const utf16 = { fffe: 'utf-16le', feff: 'utf-16be' }[hex(bytes[0]) + hex(bytes[1])];
  if (utf16) return new TextDecoder(utf16).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

const hex = (byte: number | undefined): string => (byte ?? 0).toString(16).padStart(2, '0');

const separators = [';', ',', '\t'] as const;
export type Separator = (typeof separators)[number];

/** The separator that stands most often in the first row, outside of quotes. */
export function separatorOf(text: string): Separator {
  const counts: Record<Separator, number> = { ';': 0, ',': 0, '\t': 0 };
  let isQuoted = false;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === '\n' || character === '\r')) break;
    else if (!isQuoted && isSeparator(character)) counts[character] += 1;
  }
  return separators.toSorted((a, b) => counts[b] - counts[a])[0] ?? ';';
}

const isSeparator = (character: string): character is Separator =>
  (separators as readonly string[]).includes(character);

/**
 * All rows that are not blank, the header among them. A cell in quotes may hold separators, line breaks and doubled quotes. Text after a
 * closing quote belongs to its cell, and a quote inside a cell without quotes is a quote.
 */
export function parseCsv(
  text: string,
  maxRows = Number.POSITIVE_INFINITY,
): { rows: CsvRow[] } | { problem: CsvProblem; line?: number } {
  // Excel writes the separator into a line of its own if it is told to.
  const named = /^sep=([;,\t])\r?\n/.exec(text);
  const separator = named?.[1] ?? separatorOf(text);
  const rows: CsvRow[] = [];
  let at = named?.[0].length ?? 0;
  let line = named ? 2 : 1;

  while (at < text.length) {
    const row: CsvRow = { line, cells: [] };
    let isRowOpen = true;
    while (isRowOpen) {
      let cell = '';
      if (text[at] === '"') {
        const end = closingQuote(text, at);
        if (end === -1) return { problem: 'openQuote', line: row.line };
        cell = text.slice(at + 1, end).replaceAll('""', '"');
        line += lineBreaks(cell);
        at = end + 1;
      }
      const start = at;
      while (at < text.length && text[at] !== separator && text[at] !== '\n' && text[at] !== '\r') at += 1;
      row.cells.push(cell + text.slice(start, at));
      isRowOpen = text[at] === separator;
      if (isRowOpen) at += 1;
    }
    at += text.startsWith('\r\n', at) ? 2 : 1;
    line += 1;
    if (row.cells.every((cell) => cell.trim() === '')) continue;
    if (rows.length === maxRows) return { problem: 'tooManyRows' };
    rows.push(row);
  }
  return { rows };
}

/** The quote that ends the cell; -1 if there is none. */
function closingQuote(text: string, open: number): number {
  let at = text.indexOf('"', open + 1);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

const lineBreaks = (text: string): number => text.match(/\r\n|\r|\n/g)?.length ?? 0;
