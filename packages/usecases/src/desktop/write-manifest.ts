import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { choosePackages } from '@portal/domain/desktop/package-names';
import {
  DesktopManifest,
  DesktopPackage,
  type DesktopPlatform,
  desktopPlatforms,
  manifestMaxBytes,
} from '@portal/domain/desktop/packages';
import { isComparable } from '@portal/domain/releases/releases';
import { openPlainFile } from '@portal/platform/files/plain-file';
import { writeThenRename } from '@portal/platform/files/write-then-rename';
import { manifestName, readManifest } from './manifest.ts';

/** The facts of a release that its packages do not contain. Missing ones stay as in the existing manifest. */
export interface ReleaseFacts {
  version?: string | undefined;
  channel?: string | undefined;
  commit?: string | undefined;
  /** The version the update feed offers: if missing, the release's version; if blank, none. */
  updateVersion?: string | undefined;
  notes?: string | undefined;
}

/** No manifest was written; the message is for the person who runs the command. */
export class ManifestError extends Error {}

export interface WrittenManifest {
  manifest: DesktopManifest;
  packages: (DesktopPackage & { platform: DesktopPlatform })[];
  isChanged: boolean;
  /** Things missing for a complete release, each as a phrase. */
  missing: string[];
  /** Names of the files that are not packages of this release. */
  leftOut: string[];
}

const maxSignatureBytes = 64 * 1024;

/**
 * Writes the manifest of the packages in a folder atomically; leaves an identical one untouched. Keeps the publication time while the
 * version stays the same. Throws a ManifestError if the manifest would be invalid or the package names are ambiguous.
 */
export async function writeManifest(folder: string, facts: ReleaseFacts, now: Date): Promise<WrittenManifest> {
  const place = join(folder, manifestName);
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: Error) => {
    throw new ManifestError(`The folder ${folder} cannot be read: ${error.message}.`);
  });
  const missing: string[] = [];
  // An unreadable manifest is replaced.
  const before = await readManifest(place).catch(() => {
    missing.push('a manifest that can be read: the existing one is replaced');
    return null;
  });
  const release = releaseOf(facts, before, now);

  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const signed = new Set(files.filter((name) => name.endsWith('.sig')).map((name) => name.slice(0, -'.sig'.length)));
  const choice = choosePackages(
    files
      .filter((name) => name !== manifestName && !/\.(sig|part)$/.test(name))
      .map((name) => ({ name, isSigned: signed.has(name) })),
    release.updateVersion ?? release.version,
  );
  for (const { platform, names } of choice.undecided)
    throw new ManifestError(
      `Several files could be the package for ${platform}: ${names.join(', ')}. Keep one of them.`,
    );
  if (choice.packages.length === 0)
    throw new ManifestError(
      `There is no package of ${release.version} in ${folder}.${leftOutSentence(choice.leftOut)}`,
    );

  const packages: WrittenManifest['packages'] = [];
  for (const { platform, name } of choice.packages) packages.push({ platform, ...(await describe(folder, name)) });
  const manifest = checked(DesktopManifest, {
    ...release,
    pubDate: release.pubDate.toISOString(),
    platforms: Object.fromEntries(packages.map(({ platform, ...entry }) => [platform, entry])),
  });

  for (const platform of desktopPlatforms)
    if (!packages.some((one) => one.platform === platform)) missing.push(`a package for ${platform}`);
  for (const { file, signature } of packages)
    if (signature === null)
      missing.push(`a signature for ${file} in ${file}.sig: without one, apps do not update to it`);
  if (manifest.updateVersion === null) missing.push('an update version: without one, apps do not update');
  else if (!isComparable(manifest.updateVersion))
    missing.push(
      `an update version that can be compared, such as 1.4.0: apps do not update to ${manifest.updateVersion}`,
    );
  if (manifest.notes === '') missing.push('release notes');

  const isChanged = !isDeepStrictEqual(manifest, before);
  const json = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  // World-readable, because the service may run as another user than this command.
  if (isChanged) await writeThenRename(place, json, { maxBytes: manifestMaxBytes, mode: 0o644 });
  return { manifest, packages, isChanged, missing, leftOut: choice.leftOut };
}

const leftOutSentence = (names: string[]): string =>
  names.length === 0 ? '' : ` The names of these files do not match: ${names.join(', ')}.`;

function releaseOf(facts: ReleaseFacts, before: DesktopManifest | null, now: Date) {
  const { version = before?.version, channel = before?.channel, commit = before?.commit } = facts;
  if (version === undefined || channel === undefined || commit === undefined) {
    const wanted = Object.entries({ version, channel, commit }).flatMap(([name, value]) => (value ? [] : [name]));
    throw new ManifestError(`There is no manifest to take these from, so they must be given: ${wanted.join(', ')}.`);
  }
  const same = before?.version === version ? before : null;
  const usual = same ? same.updateVersion : isComparable(version) ? version : null;
  return {
    version,
    channel,
    commit,
    updateVersion: facts.updateVersion === undefined ? usual : facts.updateVersion || null,
    pubDate: same?.pubDate ?? now,
    notes: facts.notes ?? same?.notes ?? '',
  };
}

/** A package in the folder. Hash and size come from the same read. */
async function describe(folder: string, name: string): Promise<DesktopPackage> {
  const file = await openPlainFile(join(folder, name));
  if (!file) throw new ManifestError(`${name} has just disappeared. Run this again once the folder is complete.`);
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of file.stream as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
  }
  const signature = await signatureOf(folder, name);
  return checked(DesktopPackage, { file: name, size, sha256: hash.digest('hex'), signature }, name);
}

async function signatureOf(folder: string, name: string): Promise<string | null> {
  const file = await openPlainFile(join(folder, `${name}.sig`), (sizeBytes) => {
    if (sizeBytes > maxSignatureBytes) throw new ManifestError(`${name}.sig is too long for a signature.`);
    return null;
  });
  return file && (await text(file.stream));
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, what = manifestName): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(' '));
  throw new ManifestError(`${what} would be invalid: ${faults.join('; ')}.`);
}
