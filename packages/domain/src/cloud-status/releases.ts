import { z } from 'zod';
import { DAY } from '../time.ts';

/** A day, or an instant on it. */
const Day = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .transform((text) => new Date(text))
  .describe('`2027-02-18`');

const Release = z.object({
  major: z.int().min(1).max(9_999),
  latest: z.string().regex(/^\d{1,4}\.\d{1,4}\.\d{1,6}$/, 'must be three numbers such as 34.0.4'),
  latestReleasedAt: Day,
  /** The last day of support; null while the vendor has not set one. */
  supportEndsAt: Day.nullable(),
});
export type Release = z.output<typeof Release>;

/** The releases of the product known on one day. */
export const ReleaseTable = z
  .object({ updatedAt: Day, releases: z.array(Release).min(1).max(1_000) })
  .refine(
    ({ releases }) => new Set(releases.map(({ major }) => major)).size === releases.length,
    'lists a major version twice',
  )
  .refine(
    ({ releases }) => releases.every(({ major, latest }) => Number(latest.split('.')[0]) === major),
    'lists a latest version of another major version',
  )
  .transform(({ updatedAt, releases }) => ({
    updatedAt,
    newestMajor: Math.max(...releases.map(({ major }) => major)),
    byMajor: new Map(releases.map((release) => [release.major, release])),
  }));
export type ReleaseTable = z.output<typeof ReleaseTable>;

/** An older table misses too many patches. */
const maxTableAgeDays = 60;

export const isOutdated = ({ updatedAt }: ReleaseTable, now: Date): boolean =>
  daysBetween(updatedAt, now) > maxTableAgeDays;

export const VersionAssessment = z
  .enum(['current', 'patch-available', 'major-available', 'support-ending', 'end-of-life', 'unknown'])
  .describe(
    '`support-ending` within 60 days; `unknown` if the version is hidden, not a final release, newer than the known releases, or of a related product that is not rated',
  );
export type VersionAssessment = z.output<typeof VersionAssessment>;

export interface AssessedVersion {
  versionAssessment: VersionAssessment;
  /** The latest version of the same major version. */
  latestVersion: string | null;
  /** Null if support does not end for this cloud, or if its end is unknown. */
  supportEndsAt: Date | null;
  /** Whether a patch has been missing for too long. */
  isPatchOverdue: boolean;
}

const endingDays = 60;
const patchDays = 14;

const unassessed: AssessedVersion = {
  versionAssessment: 'unknown',
  latestVersion: null,
  supportEndsAt: null,
  isPatchOverdue: false,
};

/** Compares a version with the releases, on the day of `now`. */
export function assessVersion(
  { release, hasExtendedSupport }: { release: string | null; hasExtendedSupport: boolean },
  { byMajor, newestMajor }: ReleaseTable,
  now: Date,
): AssessedVersion {
  const version = release === null ? null : numbersOf(release);
  const known = version && byMajor.get(version[0]);
  if (!version || !known) return unassessed;
  const supportEndsAt = hasExtendedSupport ? null : known.supportEndsAt;
  const daysLeft = supportEndsAt === null ? Number.POSITIVE_INFINITY : daysBetween(now, supportEndsAt);
  const isBehind = isOlder(version, numbersOf(known.latest));
  const assessed = {
    latestVersion: known.latest,
    supportEndsAt,
    isPatchOverdue: isBehind && isOverdue(version, known, now),
  };
  if (daysLeft < 0) return { ...assessed, versionAssessment: 'end-of-life' };
  if (daysLeft <= endingDays) return { ...assessed, versionAssessment: 'support-ending' };
  if (isBehind) return { ...assessed, versionAssessment: 'patch-available' };
  return { ...assessed, versionAssessment: version[0] === newestMajor ? 'current' : 'major-available' };
}

/** One patch behind is fine for 14 days. Several patches behind are overdue, because they took longer to appear. */
function isOverdue([, minor, patch]: Numbers, { latest, latestReleasedAt }: Release, now: Date): boolean {
  const [, latestMinor, latestPatch] = numbersOf(latest);
  const isNextOne = minor === latestMinor && patch === latestPatch - 1;
  return !isNextOne || daysBetween(latestReleasedAt, now) > patchDays;
}

type Numbers = [major: number, minor: number, patch: number];

const numbersOf = (version: string): Numbers => version.split('.').map(Number) as Numbers;

function isOlder(one: Numbers, other: Numbers): boolean {
  const at = one.findIndex((number, index) => number !== other[index]);
  return at !== -1 && (one[at] ?? 0) < (other[at] ?? 0);
}

/** Calendar days between two instants, regardless of the time of day. */
const daysBetween = (from: Date, to: Date): number => Math.floor(to.getTime() / DAY) - Math.floor(from.getTime() / DAY);
