import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunningStore } from '../servers/swift.ts';
import { waitUntil } from './stack.ts';
import { contentOf, type Findings, openStoreOf, readStored, sha256, sizeOf, storeSettings } from './stored-files.ts';
import { startProgram } from './worker-process.ts';

const prefix = 'kills';

/**
 * Kills programs that store files, at random instants and in the middle of uploads in parts. Every confirmed file stays, no other file is
 * half there, and a sweep removes everything else, including the parts of files that never came into being.
 */
export async function killStoringPrograms({
  store,
  kills,
  say,
}: {
  store: RunningStore;
  kills: number;
  say: (line: string) => void;
}): Promise<Findings> {
  const files = openStoreOf(store, prefix);
  const confirmed = new Set<string>();
  const violations: string[] = [];
  let inTheMiddle = 0;

  /** Kills a program during an upload in parts, or at any instant. */
  async function killAt(step: 'uploading' | 'any'): Promise<void> {
    const before = (await store.uploads()).length;
    const { child, ended, unexpectedEnd } = startProgram(
      'packages/testing/src/scenarios/storing-program.ts',
      storeSettings(store, prefix),
    );
    child.on('message', ({ path }: { path: string }) => void confirmed.add(path));
    const isUploading = async () => (await store.uploads()).length > before;
    const instant = step === 'any' ? pause(2_000 + Math.random() * 4_000) : waitUntil(isUploading, 60_000);
    await Promise.race([instant, unexpectedEnd]);
    child.kill('SIGKILL');
    await ended;
    // A call on its way reaches the store even after its sender has died.
    await pause(500);
    if (await isUploading()) inTheMiddle += 1;
  }

  /** Whether it is confirmed or not: a file is all there or absent. */
  async function judge(path: string): Promise<void> {
    const id = basename(path, '.bin');
    const stored = await readStored(files, path);
    if (stored === null && confirmed.has(path)) violations.push(`${path} was confirmed and is lost`);
    if (stored !== null && stored.sha256 !== sha256(contentOf(id, sizeOf(id))))
      violations.push(`${path} is half there`);
  }

  try {
    for (let n = 0; n < kills; n += 1) {
      await killAt(n % 2 === 0 ? 'uploading' : 'any');
      say(`${n + 1} kills, ${confirmed.size} confirmed files, ${inTheMiddle} uploads left unfinished`);
    }
    const leftovers: string[] = [];
    for await (const path of files.list('samples', 0)) if (!confirmed.has(path)) leftovers.push(path);
    for (const path of [...confirmed, ...leftovers.map((left) => left.replace(/\.[\w-]+\.part$/, ''))])
      await judge(path);
    for (const path of leftovers) if (!(await files.remove(path))) violations.push(`${path} could not be swept`);
    const isSwept = async () =>
      (await store.keys(`${prefix}/`)).every((key) => confirmed.has(key.slice(prefix.length + 1))) &&
      (await store.uploads()).length === 0;
    if ((await waitUntil(isSwept, 30_000)) === Infinity) violations.push('the sweep left something behind');
    if (inTheMiddle === 0) violations.push('no kill met an upload in parts: the run proves nothing');
    for (const path of confirmed) await files.remove(path);
    const counts = {
      kills,
      'confirmed files': confirmed.size,
      'uploads left unfinished': inTheMiddle,
      'leftovers swept': leftovers.length,
    };
    return { counts, violations };
  } finally {
    await files.close();
  }
}
