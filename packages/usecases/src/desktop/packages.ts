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
import { isAbsent, type OpenedFile, openPlainFile, type PartOf } from '@portal/platform/files/plain-file';
import { manifestReader } from './manifest.ts';

/** The folder and what its manifest says. Throws 404 when there is no folder or no manifest that can be used. */
async function release(system: SystemContext): Promise<{ folder: string; manifest: DesktopManifest }> {
  const folder = system.config.desktopDir;
  const manifest = folder === null ? null : await manifestReader(system)(folder);
  if (folder === null || !manifest) throw notFound();
  return { folder, manifest };
}

/** The current release with the packages that are really there. Throws 404 when there is none. */
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

/** The package of a platform by its name, whatever text that is. Throws 404, also when the file turns out to be another one on opening. */
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

export interface UpdateQuestion {
  /** System, processor and version of the asking app, as it says them. */
  target: string;
  arch: string;
  current_version: string;
  origin?: string | undefined;
}

/**
 * What an installed app may update itself to; null for nothing. Throws 400 `INVALID_ORIGIN` for an origin that is none, 404 without a
 * usable manifest and when the platform's entry is wrong.
 */
export async function findUpdate(
  system: SystemContext,
  { target, arch, current_version: currentVersion, origin }: UpdateQuestion,
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

/** The entry of a platform if its file is there, as large as the entry says; a link is no file. */
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
