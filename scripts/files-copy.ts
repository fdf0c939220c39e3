// pnpm files:copy FROM TO — copies every file between folders and S3-compatible stores; the apps may keep running.
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Secret } from '@portal/domain/secret';
import { type CopyCounts, copyFiles } from '@portal/platform/files/copy-files';
import { openFolderStore } from '@portal/platform/files/folder-store';
import { openObjectStore } from '@portal/platform/files/object-store';
import { parseObjectStoreAddress } from '@portal/platform/files/object-store-address';
import type { FileStore } from '@portal/platform/files/store';
import { openLog } from '@portal/platform/log';
import { areas } from '@portal/usecases/areas';
import { explainFailure } from './explain-failure.ts';

const usage = `Usage: pnpm files:copy FROM TO [--compare]

FROM and TO are each a data folder, as in DATA_DIR, or a store, as in FILES_URL, whose keys are S3_ACCESS_KEY_ID and
S3_SECRET_ACCESS_KEY. Files that are there already are skipped; with --compare they are read and compared.`;

const progressMs = 10_000;

class UsageError extends Error {}

try {
  process.exitCode = await copy(readArguments());
} catch (error) {
  console.error(error instanceof UsageError ? error.message : `The copy has stopped. ${explainFailure(error)}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

function readArguments(): { from: string; to: string; compareAll: boolean } {
  const options = { compare: { type: 'boolean', default: false } } as const;
  try {
    // pnpm may pass on the `--` that ends its own options.
    const args = process.argv.slice(2).filter((one) => one !== '--');
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
    const [from, to, ...rest] = positionals;
    if (!from || !to || rest.length > 0) throw new UsageError(usage);
    return { from, to, compareAll: values.compare };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${explainFailure(error)}\n\n${usage}`);
  }
}

/** Returns the exit code. */
async function copy({ from, to, compareAll }: { from: string; to: string; compareAll: boolean }): Promise<number> {
  if (nameOf(from) === nameOf(to)) throw new UsageError('FROM and TO are the same.');
  const [source, target] = [openPlace('FROM', from), openPlace('TO', to)];
  if (!isStore(from)) await checkFolder(from);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop.abort(new Error('It was told to stop. Run it again to continue.')));
  let counts: CopyCounts = { copied: 0, copiedBytes: 0, same: 0, gone: 0, failed: 0 };
  const progress = setInterval(() => console.log(wordsFor(counts)), progressMs);
  try {
    await copyFiles(source, target, {
      folders: areas.flatMap(({ files = [] }) => files.map(({ folder }) => folder)),
      compareAll,
      signal: stop.signal,
      onFailure: (path, reason) => console.error(`${path}: ${reason}`),
      onProgress: (now) => (counts = { ...now }),
    });
  } finally {
    clearInterval(progress);
    console.log(wordsFor(counts));
    await source.close();
    await target.close();
  }
  console.log(counts.failed === 0 ? 'Every file is there.' : 'Not every file is there. Run this again to continue.');
  return counts.failed === 0 ? 0 : 1;
}

function isStore(place: string): boolean {
  return place.startsWith('s3:');
}

/** The same for two ways to write one place. */
function nameOf(place: string): string {
  return isStore(place) ? place.replace(/\/?\?/, '?') : resolve(place);
}

function openPlace(argument: 'FROM' | 'TO', place: string): FileStore {
  if (!isStore(place)) return openFolderStore(place);
  const address = parseObjectStoreAddress(place);
  if (typeof address === 'string') throw new UsageError(`${argument} ${address}.`);
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secret } = process.env;
  if (!accessKeyId || !secret) throw new UsageError('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set.');
  return openObjectStore({ ...address, accessKeyId, secretAccessKey: new Secret(secret) }, openLog('silent', 'script'));
}

async function checkFolder(place: string): Promise<void> {
  const files = join(place, 'files');
  const stats = await stat(files).catch(() => null);
  if (!stats?.isDirectory()) throw new UsageError(`There are no files to copy: ${files} is no folder.`);
}

function wordsFor({ copied, copiedBytes, same, gone, failed }: CopyCounts): string {
  const size = `${(copiedBytes / 1_000_000).toFixed(1)} MB`;
  return `${copied} copied (${size}), ${same} there already, ${gone} deleted meanwhile, ${failed} failed`;
}
