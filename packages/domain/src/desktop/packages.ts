import { z } from 'zod';
import { invalidField } from '../errors.ts';
import { compareReleases, isComparable, releaseMaxLength } from '../releases/releases.ts';
import { line, requiredLine, text } from '../text.ts';
import { Instant } from '../time.ts';

/** Platforms that can have packages: a system and its processor. */
export const desktopPlatforms = [
  'windows-x86_64',
  'windows-aarch64',
  'darwin-x86_64',
  'darwin-aarch64',
  'linux-x86_64',
  'linux-aarch64',
] as const;
export const DesktopPlatform = z.enum(desktopPlatforms);
export type DesktopPlatform = z.output<typeof DesktopPlatform>;

/** The platform of this name, taken from a path or built from a system and a processor; null for any other text. */
export const platformOf = (name: string): DesktopPlatform | null =>
  desktopPlatforms.find((platform) => platform === name) ?? null;

/** The name of a file directly in the folder. */
const FileName = requiredLine(255).refine(
  (name) => !/[/\\]/.test(name) && name !== '.' && name !== '..',
  'must be a name without folders',
);

/** One platform's package as the manifest describes it. */
export const DesktopPackage = z.object({
  file: FileName,
  size: z.int().min(1),
  sha256: z
    .string()
    .toLowerCase()
    .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 of 64 hexadecimal digits'),
  /** The content of the signature file, which the app's updater checks. Without a signature there is no update. */
  signature: text()
    .trim()
    .nullish()
    .transform((value) => value || null),
});
export type DesktopPackage = z.output<typeof DesktopPackage>;

const Version = requiredLine(releaseMaxLength);

/** `manifest.json` beside the packages. A wrong entry affects only its platform, so `packageOf` reads each one separately. */
export const DesktopManifest = z.object({
  version: Version,
  channel: line(100),
  commit: line(100),
  /** The version the update feed offers. Without a valid one the feed offers nothing; downloads still work. */
  updateVersion: Version.nullish()
    .catch(null)
    .transform((value) => value ?? null),
  pubDate: Instant,
  notes: text(100_000),
  platforms: z.record(z.string(), z.unknown()),
});
export type DesktopManifest = z.output<typeof DesktopManifest>;

/** Longest manifest: six entries and the notes of a release take less. */
export const manifestMaxBytes = 1024 * 1024;

/** Reads a manifest. Throws if it is not JSON, lacks a field, or repeats a key, because either value may be the intended one. */
export function parseManifest(json: string): DesktopManifest {
  let keysRead = 0;
  const value: unknown = JSON.parse(json, function (this: unknown, _key, part: unknown) {
    if (!Array.isArray(this)) keysRead += 1;
    return part;
  });
  // In valid JSON, a string before a colon is a key. The reviver also receives one key for the whole document.
  const keysWritten = json.match(/"(?:[^"\\]|\\.)*"(?:\s*:)?/g)?.filter((token) => token.endsWith(':')).length ?? 0;
  if (keysWritten !== keysRead - 1) throw new Error('a key appears twice');
  return DesktopManifest.parse(value);
}

/** The entry of a platform; null if it is missing or wrong. */
export function packageOf({ platforms }: DesktopManifest, platform: DesktopPlatform): DesktopPackage | null {
  const entry = Object.hasOwn(platforms, platform) ? platforms[platform] : undefined;
  return DesktopPackage.safeParse(entry).data ?? null;
}

/** The update offered to a caller of this version, a newer package it can verify; otherwise the reason why there is none. */
export function offerFor(
  currentVersion: string,
  { updateVersion }: DesktopManifest,
  { signature }: DesktopPackage,
): { version: string; signature: string } | { reason: string } {
  if (updateVersion === null) return { reason: 'the manifest offers no version' };
  if (!isComparable(updateVersion)) return { reason: 'the offered version cannot be read' };
  if (signature === null) return { reason: 'the package is not signed' };
  const order = compareReleases(updateVersion, currentVersion);
  if (order === null) return { reason: 'the version of the caller cannot be read' };
  if (order <= 0) return { reason: 'the caller has this version or a newer one' };
  return { version: updateVersion, signature };
}

export const downloadPath = (platform: DesktopPlatform): string => `/desktop/download/${platform}`;

// Scheme and authority only: no path, no query, no credentials, and none of the mistakes browsers forgive.
const bareOrigin = /^https?:\/\/[^/?#\\@\s]+$/i;
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The origin at which the caller says it reaches the service. Throws 400 `INVALID_ORIGIN` unless it is https, or http on loopback. */
export function originOf(value: string): string {
  const url = bareOrigin.test(value) ? URL.parse(value) : null;
  if (!url || (url.protocol === 'http:' && !loopback.test(url.hostname)))
    throw invalidField('origin', 'must be an https address without path, query and credentials', 'INVALID_ORIGIN');
  return url.origin;
}

/** The answer of `GET /desktop/latest`. */
export const DesktopLatest = z
  .object({
    version: z.string(),
    channel: z.string(),
    commit: z.string(),
    updateVersion: z.string().nullable().describe('The version offered as an update; null if no update is offered'),
    platforms: z
      .array(
        z.object({
          platform: DesktopPlatform,
          fileName: z.string(),
          sizeBytes: z.int(),
          sha256: z.string(),
          signed: z.boolean().describe('Whether the package has a signature, so that the app can update to it'),
          url: z.string(),
        }),
      )
      .describe('The platforms that have a package'),
  })
  .meta({
    id: 'DesktopLatest',
    example: {
      version: '1.4.2',
      channel: 'live',
      commit: '3f2c1ab',
      updateVersion: '1.4.2',
      platforms: [
        {
          platform: 'windows-x86_64',
          fileName: 'Portal_1.4.2_x64-setup.exe',
          sizeBytes: 84_213_760,
          sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          signed: true,
          url: 'https://portal.example.org/desktop/download/windows-x86_64',
        },
      ],
    },
  });
export type DesktopLatest = z.output<typeof DesktopLatest>;

/** The answer of `GET /desktop/update` when there is a newer version; the app's updater defines the field names. */
export const DesktopUpdate = z
  .object({
    version: z.string(),
    pub_date: Instant,
    url: z.string(),
    signature: z.string(),
    notes: z.string(),
  })
  .meta({
    id: 'DesktopUpdate',
    example: {
      version: '1.4.2',
      pub_date: '2026-11-20T08:30:00.000Z',
      url: 'https://portal.example.org/desktop/download/windows-x86_64',
      signature: 'dW50cnVzdGVkIGNvbW1lbnQ6IHNpZ25hdHVyZQ==',
      notes: 'Behebt einen Fehler beim Drucken.',
    },
  });
export type DesktopUpdate = z.output<typeof DesktopUpdate>;
