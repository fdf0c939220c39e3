import { isRow, type Row } from './loose.ts';

/** An answer of a server as it came, and what is wanted of it. */
export interface AnswerOrder {
  json: Uint8Array;
  /** What a server repeats of these is not repeated any further. */
  secrets: readonly string[];
  /** The fields of each row that are kept; all of them unless given. */
  fields?: readonly string[] | undefined;
}

export type ReadAnswer = { data: unknown } | { wrong: string };

/** Answers of more bytes wait for room in memory, and are read in a process of their own. */
export const largeAnswerBytes = 256 * 1024;
/** Most objects and lists of one answer. No server comes near it; parsed, they weigh many times what they weigh as text. */
const maxObjects = 200_000;
/** Most rows of a list: several times what the largest installations have. */
const maxRows = 20_000;

const tooMuch: ReadAnswer = { wrong: 'more than can be read' };

/** Reads the data of an answer and keeps what rules may look at. What is wrong with it completes "The server answered with ...". */
export function readAnswer({ json, secrets, fields }: AnswerOrder): ReadAnswer {
  if (objectsIn(json) > maxObjects) return tooMuch;
  let parsed: unknown;
  try {
    parsed = JSON.parse(masked(new TextDecoder().decode(json), secrets));
  } catch {
    return { wrong: 'something that is not JSON' };
  }
  if (!isRow(parsed) || !('data' in parsed)) return { wrong: 'JSON that has no data' };
  const { data } = parsed;
  const wanted = fields && new Set(fields);
  if (!Array.isArray(data)) return { data: isRow(data) ? reduced(data, wanted) : data };
  if (data.length > maxRows) return tooMuch;
  return { data: data.map((row: unknown) => (isRow(row) ? reduced(row, wanted) : null)) };
}

/** Texts, numbers and objects of those: no rule looks any deeper, and none looks into lists. */
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

/** How many objects and lists a JSON has at most: what opens one may stand in a text as well. */
function objectsIn(json: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < json.length; at += 1) if (json[at] === 0x7b || json[at] === 0x5b) count += 1;
  return count;
}
