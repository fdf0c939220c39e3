import { describe, expect, it } from 'vitest';
import { assessVersion, isOutdated, ReleaseTable, type VersionAssessment } from './releases.ts';

const file = {
  updatedAt: '2026-11-20',
  releases: [
    { major: 32, latest: '32.0.14', latestReleasedAt: '2026-08-22', supportEndsAt: '2026-09-27' },
    { major: 33, latest: '33.0.8', latestReleasedAt: '2026-08-22', supportEndsAt: '2027-02-18' },
    { major: 34, latest: '34.1.4', latestReleasedAt: '2026-11-10', supportEndsAt: '2027-06-09' },
    { major: 35, latest: '35.0.1', latestReleasedAt: '2026-11-15T10:00:00Z', supportEndsAt: null },
  ],
};
const table = ReleaseTable.parse(file);
const today = new Date('2026-11-20T12:00:00Z');
const assess = (release: string | null, { hasExtendedSupport = false, on = today } = {}) =>
  assessVersion({ release, hasExtendedSupport }, table, on);
const at = (time: string) => ({ on: new Date(time) });

describe('a version among the releases', () => {
  it.each<[string, string | null, Parameters<typeof assess>[1], VersionAssessment, boolean]>([
    ['the newest', '35.0.1', {}, 'current', false],
    ['a patch newer than the table', '35.0.9', {}, 'current', false],
    ['an older major with all patches', '34.1.4', {}, 'major-available', false],
    ['one recent patch behind', '34.1.3', {}, 'patch-available', false],
    ['one patch behind for 14 days', '34.1.3', at('2026-11-24T23:59:59Z'), 'patch-available', false],
    ['one patch behind for 15 days', '34.1.3', at('2026-11-25T00:00:00Z'), 'patch-available', true],
    ['two patches behind', '34.1.2', {}, 'patch-available', true],
    ['a minor behind', '34.0.9', {}, 'patch-available', true],
    ['far behind', '34.0.0', {}, 'patch-available', true],
    ['61 days before its end', '33.0.8', at('2026-12-19T23:59:59Z'), 'major-available', false],
    ['60 days before its end', '33.0.8', at('2026-12-20T00:00:00Z'), 'support-ending', false],
    ['on its last day', '33.0.8', at('2027-02-18T23:59:59Z'), 'support-ending', false],
    ['after its last day', '33.0.8', at('2027-02-19T00:00:00Z'), 'end-of-life', false],
    ['out of support', '32.0.14', {}, 'end-of-life', false],
    ['out of support for others', '32.0.14', { hasExtendedSupport: true }, 'major-available', false],
    ['out of support for others and behind', '32.0.10', { hasExtendedSupport: true }, 'patch-available', true],
    ['ending for others', '33.0.8', { hasExtendedSupport: true, on: new Date('2027-02-01') }, 'major-available', false],
    ['hidden', null, {}, 'unknown', false],
    ['newer than the table', '36.0.0', {}, 'unknown', false],
    ['older than the table', '12.0.1', {}, 'unknown', false],
  ])('%s', (_what, release, options, versionAssessment, isPatchOverdue) => {
    expect(assess(release, options)).toMatchObject({ versionAssessment, isPatchOverdue });
  });

  it('comes with the latest version of its major and the end of its support', () => {
    expect(assess('33.0.7')).toMatchObject({ latestVersion: '33.0.8', supportEndsAt: new Date('2027-02-18') });
    expect(assess('33.0.7', { hasExtendedSupport: true }).supportEndsAt).toBeNull();
    expect(assess('35.0.1').supportEndsAt).toBeNull();
    expect(assess(null)).toMatchObject({ latestVersion: null, supportEndsAt: null });
  });
});

describe('a table of releases', () => {
  it('is outdated after 60 days', () => {
    expect(isOutdated(table, new Date('2027-01-19T23:00:00Z'))).toBe(false);
    expect(isOutdated(table, new Date('2027-01-20T00:00:00Z'))).toBe(true);
  });

  const [first] = file.releases;
  it.each([
    ['nothing', null],
    ['a list', file.releases],
    ['an empty list of releases', { ...file, releases: [] }],
    ['a major listed twice', { ...file, releases: [first, first] }],
    ['a latest version of another major', { ...file, releases: [{ ...first, latest: '33.0.0' }] }],
    ['an invalid version', { ...file, releases: [{ ...first, latest: 'newest' }] }],
    ['an invalid day', { ...file, releases: [{ ...first, supportEndsAt: '2026-02-30' }] }],
    ['without a date', { releases: file.releases }],
  ])('is not %s', (_what, broken) => {
    expect(ReleaseTable.safeParse(broken).success).toBe(false);
  });
});
