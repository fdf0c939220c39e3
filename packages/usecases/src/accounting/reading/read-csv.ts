import { CsvError, parse } from 'csv-parse/sync';
import { invalid } from '@portal/domain/errors';

/** In order of preference. */
const delimiters = [';', '\t', ',', '|'];
/** Lines that decide the delimiter, and lines among which the header is searched. */
const [delimiterLines, headerLines] = [5, 20];
/** Maximum size of these lines. */
const headBytes = 64 * 1024;
/** Maximum length of a record. A file without line ends would be one record with millions of cells. */
const maxRecordChars = 64 * 1024;

interface CsvReading<Header> {
  header: Header;
  /** The line of the header. */
  line: number;
  /** Passes each non-blank record below the header to `take`, with the line it starts on. Throws 400 `TOO_MANY_ROWS`. */
  read(maxRows: number, take: (line: number, cells: readonly string[]) => void): void;
}

/**
 * Finds delimiter and header of a CSV file. It tries delimiters that give the first lines equal numbers of cells first, and uses the first
 * delimiter with which a line is a header. Throws 400 `HEADER_MISSING` and `FILE_UNREADABLE`.
 */
export function openCsv<Header>(
  utf8: Buffer,
  findHeader: (cells: readonly string[]) => Header | null,
): CsvReading<Header> {
  const baseFormat = formatOf(utf8);
  for (const delimiter of likelyDelimiters(utf8.subarray(0, headBytes).toString())) {
    const headers: { header: Header; line: number }[] = [];
    const format = { ...baseFormat, delimiter };
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
  // Allows for blank lines.
  const maxRecords = 2 * maxRows + headerLines;
  eachRecord(utf8, format, (line, cells) => {
    records += 1;
    const isRow = line > headerLine && cells.some((cell) => cell.trim() !== '');
    if (isRow) rows += 1;
    if (rows > maxRows || records > maxRecords)
      throw invalid('TOO_MANY_ROWS', `A list can have at most ${maxRows} rows. Please split it into parts.`);
    if (isRow) take(line, cells);
  });
}

/** The format of a file. Only line breaks and quotes that occur are parsed, which saves time with 100,000 lines. */
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

function formatOf(utf8: Buffer): Omit<Format, 'delimiter'> {
  const text = utf8.toString('latin1');
  return {
    record_delimiter: lineBreaks.filter(([, pattern]) => pattern.test(text)).map(([lineBreak]) => lineBreak),
    quote: text.includes('"') ? '"' : null,
  };
}

/** Passes each record to `take` with the line it starts on. Keeps none in memory, because there may be 100,000. */
function eachRecord(utf8: Buffer, format: Format & { to?: number }, take: Take): void {
  // Only quoted cells can contain line breaks.
  const mayContainBreaks = format.quote !== null;
  let line = 1;
  try {
    parse(utf8, {
      ...format,
      relax_column_count: true,
      relax_quotes: true,
      max_record_size: maxRecordChars,
      on_record(cells: string[]) {
        take(line, cells);
        line += mayContainBreaks ? cells.reduce((sum, cell) => sum + breaksIn(cell), 1) : 1;
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

/** The first non-blank lines, without quoted text. */
const firstLines = (head: string): string[] =>
  head
    .replaceAll(/"(?:[^"]|"")*"/g, '')
    .split(/\r\n|[\r\n]/, 200)
    .filter((line) => line.trim() !== '')
    .slice(0, delimiterLines);

const problems: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'A quotation mark is never closed',
  CSV_MAX_RECORD_SIZE: 'A line is too long',
};

function unreadable(error: CsvError) {
  const what = problems[error.code] ?? 'The lines of this file cannot be read';
  return invalid('FILE_UNREADABLE', `${what}. Please save the file as CSV again.`, { cause: error });
}
