import { isRow, type Row } from './rows.ts';

/** The raw answer of a server, and what to read from it. */
export interface AnswerOrder {
  json: Uint8Array;
  /** Masked wherever the server repeats them. */
  secrets: readonly string[];
  /** The fields to keep of each row; all by default. */
  fields?: readonly string[] | undefined;
}

export type ReadAnswer = { data: unknown } | { wrong: string };

/** A larger answer, in bytes, waits until memory is free and is read in a sandbox. */
export const largeAnswerBytes = 256 * 1024;
/** Objects and lists in one answer. Real servers stay far below. Parsed, they take many times the memory of their text. */
const maxObjects = 200_000;
/** Rows of a list: several times what the largest installations have. */
const maxRows = 20_000;

const tooMuch: ReadAnswer = { wrong: 'more data than the portal can read' };

/** Reads the data of an answer and keeps only what rules can use. `wrong` completes "The server answered with ...". */
export function readAnswer({ json, secrets, fields }: AnswerOrder): ReadAnswer {
  if (objectsIn(json) > maxObjects) return tooMuch;
  let parsed: unknown;
  try {
    parsed = JSON.parse(masked(new TextDecoder().decode(json), secrets));
  } catch {
    return { wrong: 'something that is not JSON' };
  }
  if (!isRow(parsed) || !('data' in parsed)) return { wrong: 'JSON without data' };
  const { data } = parsed;
  const wanted = fields && new Set(fields);
  if (!Array.isArray(data)) return { data: isRow(data) ? reduced(data, wanted) : data };
  if (data.length > maxRows) return tooMuch;
  return { data: data.map((row: unknown) => (isRow(row) ? reduced(row, wanted) : null)) };
}

/** Keeps texts, numbers and flat objects: no rule reads deeper levels or nested lists. */
const reduced = (row: Row, wanted: ReadonlySet<string> | undefined): Row =>
  Object.fromEntries(
    Object.entries(row).flatMap(([field, value]) => {
      if (wanted?.has(field) === false || Array.isArray(value)) return [];
      return [[field, isRow(value) ? plain(value) : value]];
    }),
  );

const plain = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => typeof value !== 'object' || value === null));

export const masked = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);

/** An upper bound for the objects and lists of a JSON: brackets inside strings count as well. */
function objectsIn(json: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < json.length; at += 1) if (json[at] === 0x7b || json[at] === 0x5b) count += 1;
  return count;
}
