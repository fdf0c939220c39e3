import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type DesktopLatest,
  type DesktopManifest,
  type DesktopPackage,
  type DesktopPlatform,
  desktopPlatforms,
  type DesktopUpdate,
  downloadPath,
  offerFor,
  originOf,
  packageOf,
  platformOf,
} from '@portal/domain/desktop/packages';
import { notFound } from '@portal/domain/errors';
import type { SystemContext } from '@portal/platform/context';
import type { OpenedFile, PartOf } from '@portal/platform/files/opened-file';
import { isAbsent, openPlainFile } from '@portal/platform/files/plain-file';
import { manifestReader } from './manifest.ts';

/** The folder and its manifest. Throws 404 if there is no folder or no usable manifest. */
async function release(system: SystemContext): Promise<{ folder: string; manifest: DesktopManifest }> {
  const folder = system.config.desktopDir;
  const manifest = folder === null ? null : await manifestReader(system)(folder);
  if (folder === null || !manifest) throw notFound();
  return { folder, manifest };
}

/** The current release with the packages that exist in the folder. Throws 404 if there is no release. */
export async function latestPackages(system: SystemContext): Promise<DesktopLatest> {
  const { folder, manifest } = await release(system);
  const { version, channel, commit, updateVersion } = manifest;
  const entries = await Promise.all(
    desktopPlatforms.map(async (platform) => ({ platform, found: await findPackage(folder, manifest, platform) })),
  );
  const platforms = entries.flatMap(({ platform, found }) => {
    if (!found) return [];
    const url = `${system.config.http.publicUrl}${downloadPath(platform)}`;
    const { file: fileName, size: sizeBytes, sha256, signature } = found;
    return [{ platform, fileName, sizeBytes, sha256, signed: signature !== null, url }];
  });
  return { version, channel, commit, updateVersion, platforms };
}

export interface PackageFile {
  fileName: string;
  sha256: string;
  open: (partOf?: PartOf) => Promise<OpenedFile>;
}

/** The package of the platform with this name, which may be any text. Throws 404, also if the file has been replaced when it is opened. */
export async function openPackage(system: SystemContext, name: string): Promise<PackageFile> {
  const platform = platformOf(name);
  if (!platform) throw notFound();
  const { folder, manifest } = await release(system);
  const found = await findPackage(folder, manifest, platform);
  if (!found) throw notFound();
  const { file: fileName, size, sha256 } = found;

  async function open(partOf: PartOf = () => null): Promise<OpenedFile> {
    const opened = await openPlainFile(join(folder, fileName), (sizeBytes) => {
      if (sizeBytes !== size) throw notFound();
      return partOf(sizeBytes);
    });
    if (!opened) throw notFound();
    return opened;
  }
  return { fileName, sha256, open };
}

export interface UpdateRequest {
  /** System, processor and version as reported by the app. */
  target: string;
  arch: string;
  current_version: string;
  origin?: string | undefined;
}

/**
 * The update for an installed app; null if there is none. Throws 400 `INVALID_ORIGIN` for an invalid origin, 404 without a usable manifest
 * and if the platform's entry is wrong.
 */
export async function findUpdate(
  system: SystemContext,
  { target, arch, current_version: currentVersion, origin }: UpdateRequest,
): Promise<DesktopUpdate | null> {
  const base = origin === undefined ? system.config.http.publicUrl : originOf(origin);
  const platform = platformOf(`${target}-${arch}`);
  const { folder, manifest } = await release(system);
  const nothing = (reason: string) => {
    system.log.debug({ reason, target, arch, currentVersion, requestId: system.requestId }, 'no desktop update');
    return null;
  };
  if (!platform) return nothing('there are no packages for this system and processor');
  const found = await findPackage(folder, manifest, platform);
  if (!found) throw notFound();
  const offer = offerFor(currentVersion, manifest, found);
  if ('reason' in offer) return nothing(offer.reason);
  const { pubDate, notes } = manifest;
  return { ...offer, pub_date: pubDate, url: `${base}${downloadPath(platform)}`, notes };
}

/** The entry of a platform if its file exists and has the size of the entry; a link does not count. */
async function findPackage(
  folder: string,
  manifest: DesktopManifest,
  platform: DesktopPlatform,
): Promise<DesktopPackage | null> {
  const entry = packageOf(manifest, platform);
  if (!entry) return null;
  try {
    const stats = await lstat(join(folder, entry.file));
    return stats.isFile() && stats.size === entry.size ? entry : null;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}
