import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newId } from '@portal/domain/ids';
import { openFolderStore } from '@portal/platform/files/folder-store';
import { programOf } from '../program.ts';
import type { RunningStore } from '../servers/swift.ts';
import { contentOf, type Findings, inChunks, MiB } from './stored-files.ts';

const run = promisify(execFile);
const prefix = 'copy';

/** Copies a folder into the store and from there into an empty folder, with `pnpm files:copy`: both folders are equal, byte by byte. */
export async function copyThereAndBack({ store, small }: { store: RunningStore; small: number }): Promise<Findings> {
  const folder = await mkdtemp(join(tmpdir(), 'portal-copy-'));
  const [first, last] = [join(folder, 'first'), join(folder, 'last')];
  const env = store.env(prefix);
  const address = env['FILES_URL'] ?? '';
  const violations: string[] = [];

  async function fill(): Promise<void> {
    const files = openFolderStore(first);
    const keep = (area: string, sizeBytes: number) => {
      const id = newId();
      return files.write(area, id, 'bin', inChunks(contentOf(id, sizeBytes)), { maxBytes: sizeBytes });
    };
    for (let n = 0; n < small; n += 1) await keep('avatars', n * 37);
    for (const sizeBytes of [5 * MiB, 8 * MiB, 8 * MiB + 1, 24 * MiB]) await keep('invoice-documents', sizeBytes);
  }

  /** Runs the command; returns what it has said. */
  async function copy(from: string, to: string): Promise<string> {
    const { command, args, env: own } = programOf('scripts/files-copy.ts', env);
    try {
      return (await run(command, [...args, from, to], { env: own, timeout: 600_000 })).stdout;
    } catch (error) {
      violations.push(`the copy failed: ${String(error)}`);
      return '';
    }
  }

  const contents = async (dataDir: string): Promise<Map<string, Buffer>> => {
    const root = join(dataDir, 'files');
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    const places = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return new Map(
      await Promise.all(places.map(async (place) => [place.slice(root.length), await readFile(place)] as const)),
    );
  };

  try {
    await fill();
    await copy(first, address);
    if (!(await copy(first, address)).startsWith('0 copied')) violations.push('a second copy copied something again');
    await copy(address, last);
    const [before, after] = [await contents(first), await contents(last)];
    for (const [path, bytes] of before) if (!after.get(path)?.equals(bytes)) violations.push(`${path} is not equal`);
    if (after.size !== before.size) violations.push(`${after.size} files came back instead of ${before.size}`);
    return { counts: { 'files copied there and back': before.size }, violations };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
