import { invalid, invalidField } from '../errors.ts';

/** A parsed release version (semver.org 2.0.0). Numbers stay text, which compares exactly at any length. */
interface Release {
  /** Major, minor, patch. */
  numbers: [string, string, string];
  /** Identifiers after the hyphen; empty for a final release. */
  preRelease: string[];
  /** As stored: without a leading `v`, with build metadata. */
  text: string;
}

const number = '0|[1-9][0-9]*';
// A pre-release identifier of digits only has no leading zero; one with a letter or hyphen may have.
const preReleaseId = `(?:${number}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)`;
const release = new RegExp(
  `^v?((${number})\\.(${number})\\.(${number})(?:-(${preReleaseId}(?:\\.${preReleaseId})*))?(?:\\+[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*)?)$`,
);

/** Longest version text accepted; the settings have the same limit for the running release. */
export const releaseMaxLength = 100;

function parseRelease(version: string): Release | null {
  if (version.length > releaseMaxLength) return null;
  const [, text, major, minor, patch, preRelease] = release.exec(version) ?? [];
  if (text === undefined || major === undefined || minor === undefined || patch === undefined) return null;
  return { numbers: [major, minor, patch], preRelease: preRelease?.split('.') ?? [], text };
}

/** Whether a version can be compared with others; `dev` cannot. */
export const isComparable = (version: string): boolean => parseRelease(version) !== null;

/**
 * Compares versions by semver.org, section 11: pre-releases come before their release, build metadata is ignored.
 * Negative if `a` is older; null if either is not a version.
 */
export function compareReleases(a: string, b: string): number | null {
  const [left, right] = [parseRelease(a), parseRelease(b)];
  return left && right ? compare(left, right) : null;
}

function compare(a: Release, b: Release): number {
  for (const [index, number] of a.numbers.entries()) {
    const order = compareNumbers(number, b.numbers[index] ?? '');
    if (order !== 0) return order;
  }
  return comparePreReleases(a.preRelease, b.preRelease);
}

function comparePreReleases(a: string[], b: string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (const [index, identifier] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const order = compareIdentifiers(identifier, other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

const isNumber = (identifier: string): boolean => /^[0-9]+$/.test(identifier);

function compareIdentifiers(a: string, b: string): number {
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  return compareText(a, b);
}

// Without leading zeros, the longer number is the larger one.
const compareNumbers = (a: string, b: string): number => a.length - b.length || compareText(a, b);

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** The release a new account counts as seen: the running one, so that it is not announced as new; null on `dev`. */
export const firstSeenRelease = (running: string): string | null => parseRelease(running)?.text ?? null;

/** Whether the running release is new to the account. It is new to an account that has seen none. */
export function isNewRelease(running: string, lastSeen: string | null): boolean {
  const current = parseRelease(running);
  if (!current) return false;
  const seen = lastSeen === null ? null : parseRelease(lastSeen);
  return !seen || compare(current, seen) > 0;
}

/**
 * The version to store after an account reports that it has seen `requested`; never lower than before.
 * Throws 400 `NOT_COMPARABLE` while the running release is `dev`, and 400 for an invalid version or one above the running release.
 */
export function seeRelease(running: string, requested: string, lastSeen: string | null): string {
  const current = parseRelease(running);
  if (!current) throw invalid('NOT_COMPARABLE');
  const wanted = parseRelease(requested);
  if (!wanted) throw invalidField('version', 'must be a version such as 1.4.0');
  if (compare(wanted, current) > 0) throw invalidField('version', 'must not be above the running release');
  const seen = lastSeen === null ? null : parseRelease(lastSeen);
  return seen && compare(seen, wanted) >= 0 ? seen.text : wanted.text;
}
