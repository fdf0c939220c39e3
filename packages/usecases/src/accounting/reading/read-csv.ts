import { CsvError, parse } from 'csv-parse/sync';
import { invalid } from '@portal/domain/errors';

/** In the order in which they win a draw. */
const delimiters = [';', '\t', ',', '|'];
/** How many lines decide about the delimiter, and among how many the header is looked for. */
const [decidingLines, headerLines] = [5, 20];
/** What these lines have room in. */
const headBytes = 64 * 1024;
/** Of one record; a file without line ends would be one of millions of cells. */
const maxRecordChars = 64 * 1024;

interface CsvReading<Header> {
  header: Header;
  /** The line it stands on. */
  line: number;
  /** Hands on each record below the header that says something, with the line it starts on. Throws 400 `TOO_MANY_ROWS`. */
  read(maxRows: number, take: (line: number, cells: readonly string[]) => void): void;
}

/**
 * Finds delimiter and header of a CSV file: what cuts the first lines into equally many cells comes first, and what makes a header of one
 * of them is taken. Throws 400 `HEADER_MISSING` and `FILE_UNREADABLE`.
 */
export function openCsv<Header>(
  utf8: Buffer,
  findHeader: (cells: readonly string[]) => Header | null,
): CsvReading<Header> {
  const writing = writingOf(utf8);
  for (const delimiter of likelyDelimiters(utf8.subarray(0, headBytes).toString())) {
    const headers: { header: Header; line: number }[] = [];
    const format = { ...writing, delimiter };
    eachRecord(utf8, { ...format, to: headerLines }, (line, cells) => {
      const header = findHeader(cells);
      if (header !== null) headers.push({ header, line });
    });
    const [first] = headers;
    if (first)
      return { ...first, read: (maxRows, take) => readBelow(utf8, { format, maxRows, line: first.line }, take) };
  }
  throw invalid('HEADER_MISSING');
}

type Take = (line: number, cells: readonly string[]) => void;

function readBelow(
  utf8: Buffer,
  { format, maxRows, line: headerLine }: { format: Format; maxRows: number; line: number },
  take: Take,
): void {
  let [rows, records] = [0, 0];
  // Room for lines that say nothing.
  const maxRecords = 2 * maxRows + headerLines;
  eachRecord(utf8, format, (line, cells) => {
    records += 1;
    const isRow = line > headerLine && cells.some((cell) => cell.trim() !== '');
    if (isRow) rows += 1;
    if (rows > maxRows || records > maxRecords)
      throw invalid('TOO_MANY_ROWS', `A list may have ${maxRows} rows at most. Please send it in parts.`);
    if (isRow) take(line, cells);
  });
}

/** How a file is written. What does not occur in it is not looked for: with a hundred thousand lines that counts. */
interface Format {
  delimiter: string;
  record_delimiter: string[];
  quote: '"' | null;
}

const lineBreaks: [lineBreak: string, pattern: RegExp][] = [
  ['\r\n', /\r\n/],
  ['\n', /(?<!\r)\n/],
  ['\r', /\r(?!\n)/],
];

function writingOf(utf8: Buffer): Omit<Format, 'delimiter'> {
  const text = utf8.toString('latin1');
  return {
    record_delimiter: lineBreaks.filter(([, pattern]) => pattern.test(text)).map(([lineBreak]) => lineBreak),
    quote: text.includes('"') ? '"' : null,
  };
}

/** Hands on each record with the line it starts on; none is kept, because there may be a hundred thousand. */
function eachRecord(utf8: Buffer, format: Format & { to?: number }, take: Take): void {
  // Further lines of a record stand in quotes.
  const mayHoldLines = format.quote !== null;
  let line = 1;
  try {
    parse(utf8, {
      ...format,
      relax_column_count: true,
      relax_quotes: true,
      max_record_size: maxRecordChars,
      on_record(cells: string[]) {
        take(line, cells);
        line += mayHoldLines ? cells.reduce((sum, cell) => sum + breaksIn(cell), 1) : 1;
        return null;
      },
    });
  } catch (error) {
    throw error instanceof CsvError ? unreadable(error) : error;
  }
}

const breaksIn = (cell: string): number => (/[\r\n]/.test(cell) ? cell.split(/\r\n|[\r\n]/).length - 1 : 0);

function likelyDelimiters(head: string): string[] {
  const lines = firstLines(head);
  const even = delimiters.filter((delimiter) => {
    const [first = 1, ...others] = lines.map((line) => line.split(delimiter).length);
    return first > 1 && others.every((count) => count === first);
  });
  return [...even, ...delimiters.filter((delimiter) => !even.includes(delimiter))];
}

/** The first lines that say something, without what stands in quotes. */
const firstLines = (head: string): string[] =>
  head
    .replaceAll(/"(?:[^"]|"")*"/g, '')
    .split(/\r\n|[\r\n]/, 200)
    .filter((line) => line.trim() !== '')
    .slice(0, decidingLines);

const problems: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'A quotation mark is never closed',
  CSV_MAX_RECORD_SIZE: 'A line is longer than any line of such a list',
};

function unreadable(error: CsvError) {
  const what = problems[error.code] ?? 'The lines of this file cannot be told apart';
  return invalid('FILE_UNREADABLE', `${what}. Please save the file as CSV again.`, { cause: error });
}
