import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type DesktopManifest, manifestMaxBytes, parseManifest } from '@portal/domain/desktop/packages';
import { isAbsent, openPlainFile } from '@portal/platform/files/plain-file';
import { resource } from '@portal/platform/resource';

export const manifestName = 'manifest.json';

// File systems have a time resolution of some milliseconds: a file changed more recently may change again with the same times.
const stableAfterMs = 100;

interface Known {
  stamp: string;
  isStable: boolean;
  manifest: Promise<DesktopManifest | null>;
}

/**
 * Returns the manifest of a folder; null if there is none or it cannot be used. Each call checks the file once and reads it only if it
 * has changed. So a release is live with the rename that publishes it, in every process and on every file system, without a watcher.
 */
export const manifestReader = resource(({ log }) => {
  let known: Known | null = null;

  async function read(place: string): Promise<DesktopManifest | null> {
    try {
      const manifest = await readManifest(place);
      if (manifest) log.info({ version: manifest.version }, 'the desktop manifest was read');
      return manifest;
    } catch (error) {
      log.error({ err: error }, 'the desktop manifest cannot be used');
      return null;
    }
  }

  return async function currentManifest(folder: string): Promise<DesktopManifest | null> {
    const place = join(folder, manifestName);
    const state = await stateOf(place);
    if (state === null) return null;
    if (known?.stamp !== state.stamp || !known.isStable) known = { ...state, manifest: read(place) };
    return known.manifest;
  };
});

/** The manifest in a file; null if there is no plain file. Throws if the file is not a manifest. */
export async function readManifest(place: string): Promise<DesktopManifest | null> {
  const file = await openPlainFile(place, (sizeBytes) => {
    if (sizeBytes > manifestMaxBytes) throw new Error(`a manifest has at most ${manifestMaxBytes} bytes`);
    return null;
  });
  return file && parseManifest(await text(file.stream));
}

/** A stamp that changes with the file; null if the file is missing or cannot be reached. */
async function stateOf(place: string): Promise<Pick<Known, 'stamp' | 'isStable'> | null> {
  try {
    const { ino, size, mtimeNs, ctimeNs, ctimeMs } = await lstat(place, { bigint: true });
    return {
      stamp: [place, ino, size, mtimeNs, ctimeNs].join(':'),
      isStable: Date.now() - Number(ctimeMs) > stableAfterMs,
    };
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}
