import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type DesktopManifest, manifestMaxBytes, parseManifest } from '@portal/domain/desktop/packages';
import { isAbsent, openPlainFile } from '@portal/platform/files/plain-file';
import { resource } from '@portal/platform/resource';

export const manifestName = 'manifest.json';

// File systems tell times apart by some milliseconds: what changed later than that may change again and look the same.
const settledAfterMs = 100;

interface Known {
  stamp: string;
  isSettled: boolean;
  manifest: Promise<DesktopManifest | null>;
}

/**
 * Answers the manifest as it lies in a folder, null where there is none that can be used. One look at the file per call; it is read
 * again only once it has changed.
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
    if (known?.stamp !== state.stamp || !known.isSettled) known = { ...state, manifest: read(place) };
    return known.manifest;
  };
});

/** The manifest at a place, null when nothing or no plain file is there. Throws when it is no manifest. */
export async function readManifest(place: string): Promise<DesktopManifest | null> {
  const file = await openPlainFile(place, (sizeBytes) => {
    if (sizeBytes > manifestMaxBytes) throw new Error(`a manifest has at most ${manifestMaxBytes} bytes`);
    return null;
  });
  return file && parseManifest(await text(file.stream));
}

/** What changes whenever the file does; null when it is not there or cannot be reached. */
async function stateOf(place: string): Promise<Pick<Known, 'stamp' | 'isSettled'> | null> {
  try {
    const { ino, size, mtimeNs, ctimeNs, ctimeMs } = await lstat(place, { bigint: true });
    return {
      stamp: [place, ino, size, mtimeNs, ctimeNs].join(':'),
      isSettled: Date.now() - Number(ctimeMs) > settledAfterMs,
    };
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}
