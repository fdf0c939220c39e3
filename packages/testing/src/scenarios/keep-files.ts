import { Readable } from 'node:stream';
import { newId } from '@portal/domain/ids';
import type { RunningStore } from '../servers/swift.ts';
import { waitUntil } from './stack.ts';
import { atOnce, contentOf, type Findings, inChunks, MiB, openStoreOf, readStored, sha256 } from './stored-files.ts';

// Around the five mebibytes that a part of an upload needs, and around the round numbers that a client may choose for its parts.
const sizes = [0, 1, 5, MiB, 5 * MiB - 1, 5 * MiB, 5 * MiB + 1, 8 * MiB, 8 * MiB + 1, 16 * MiB + 1, 40 * MiB];
const maxBytes = 50 * MiB;
const prefix = 'contract';

/** Checks each promise of the file store on a running object store: what it takes, gives back, refuses, lists and removes. */
export async function keepFiles({
  store,
  small,
}: {
  store: RunningStore;
  /** Number of small files; a page of a list has 1,000. */
  small: number;
}): Promise<Findings> {
  const files = openStoreOf(store, prefix);
  const counts = { 'files written': 0, 'MiB written': 0, 'parts read': 0, 'files listed': 0, 'files removed': 0 };
  const violations: string[] = [];

  async function keep(content: Buffer, from: 'bytes' | 'stream'): Promise<string> {
    const given = from === 'bytes' ? content : inChunks(content);
    const { path, sizeBytes } = await files.write('samples', newId(), 'bin', given, { maxBytes });
    counts['files written'] += 1;
    counts['MiB written'] += content.length / MiB;
    const stored = await readStored(files, path);
    const what = `${content.length} bytes from ${from}`;
    if (sizeBytes !== content.length) violations.push(`${what} were counted as ${sizeBytes}`);
    if (stored?.sizeBytes !== content.length) violations.push(`${what} have the size ${stored?.sizeBytes}`);
    if (stored?.sha256 !== sha256(content)) violations.push(`${what} came back as other bytes`);
    return path;
  }

  async function readParts(path: string, content: Buffer): Promise<void> {
    const last = content.length - 1;
    const edges = [5 * MiB, 8 * MiB, 16 * MiB].filter((edge) => edge < last).map((edge) => [edge - 1, edge]);
    const some = Array.from({ length: 8 }, (_, n) => [Math.floor((last * n) / 9), Math.floor((last * (n + 1)) / 9)]);
    for (const [start = 0, end = 0] of [[0, 0], [last, last], [0, last], ...edges, ...some]) {
      const stored = await readStored(files, path, { start, end });
      counts['parts read'] += 1;
      const isRight =
        stored?.sha256 === sha256(content.subarray(start, end + 1)) && stored.sizeBytes === content.length;
      if (!isRight) violations.push(`bytes ${start} to ${end} of ${content.length} came back wrong`);
    }
  }

  const isGone = async (paths: string[]): Promise<boolean> => {
    const keys = new Set(await store.keys(`${prefix}/`));
    return !paths.some((path) => keys.has(`${prefix}/${path}`)) && (await store.uploads()).length === 0;
  };

  async function refuse(what: string, content: Readable, limit: number, isExpected: (error: unknown) => boolean) {
    const before = (await store.keys('')).length;
    const error = await files.write('samples', newId(), 'bin', content, { maxBytes: limit }).then(
      () => null,
      (refusal: unknown) => refusal,
    );
    if (!isExpected(error)) violations.push(`${what} ended with ${String(error)}`);
    if (!content.destroyed) violations.push(`${what}: the stream was left open`);
    const isClean = async () => (await store.keys('')).length === before && (await isGone([]));
    if ((await waitUntil(isClean, 30_000)) === Infinity) violations.push(`${what}: something was left in the store`);
  }

  async function listAndRemove(): Promise<void> {
    const paths = new Set<string>();
    await atOnce(Array(small).keys(), 8, async (n) => {
      const { path } = await files.write('avatars', newId(), 'webp', Buffer.from(`${n}`), { maxBytes: 100 });
      paths.add(path);
    });
    counts['files written'] += small;
    if ((await Array.fromAsync(files.list('avatars'))).length > 0)
      violations.push('a new file was listed as an old one');
    const listed = await Array.fromAsync(files.list('avatars', 0));
    counts['files listed'] = listed.length;
    if (new Set(listed).size !== listed.length) violations.push('the list has a file twice');
    const missing = paths.difference(new Set(listed)).size;
    if (missing > 0 || listed.length !== small) violations.push(`${missing} of ${small} files are missing in the list`);
    await atOnce(paths, 8, async (path) => {
      if (!(await files.remove(path))) violations.push(`${path} was not removed`);
      counts['files removed'] += 1;
    });
    if ((await waitUntil(() => isGone([...paths]), 30_000)) === Infinity) violations.push('removed files remain');
  }

  async function all(): Promise<void> {
    const kept: string[] = [];
    for (const sizeBytes of sizes) {
      const content = contentOf(`${sizeBytes}`, sizeBytes);
      for (const from of ['bytes', 'stream'] as const) {
        const path = await keep(content, from);
        if (sizeBytes > 1) await readParts(path, content);
        kept.push(path);
      }
    }
    const large = contentOf('large', 30 * MiB);
    await refuse('a file above the limit', inChunks(large), 20 * MiB, (error) => codeOf(error) === 'PAYLOAD_TOO_LARGE');
    await refuse(
      'a small file above the limit',
      inChunks(large.subarray(0, 11), 3),
      10,
      (error) => codeOf(error) === 'PAYLOAD_TOO_LARGE',
    );
    await refuse('a broken upload', brokenAfter(large, 12 * MiB), maxBytes, (error) =>
      String(error).includes('broken off'),
    );

    const absent = `samples/00/${newId().slice(0, -2)}00.bin`;
    const isAbsent = async (path: string) =>
      (await files.open(path)) === null && (await files.open(path, () => null)) === null;
    if (!(await isAbsent(absent))) violations.push('a file that was never written can be opened');
    if (!(await files.remove(absent))) violations.push('removing an absent file failed');
    for (const path of kept) {
      if (!(await files.remove(path))) violations.push(`${path} was not removed`);
      if (!(await isAbsent(path))) violations.push('a removed file can be opened');
      counts['files removed'] += 1;
    }
    if ((await waitUntil(() => isGone(kept), 30_000)) === Infinity)
      violations.push('removed files or their parts remain');
    await listAndRemove();
  }

  try {
    await all();
    return { counts, violations };
  } finally {
    await files.close();
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : null);

function brokenAfter(bytes: Buffer, length: number): Readable {
  async function* chunks(): AsyncGenerator<Buffer> {
    yield* inChunks(bytes.subarray(0, length)) as AsyncIterable<Buffer>;
    throw new Error('broken off');
  }
  return Readable.from(chunks(), { objectMode: false });
}
