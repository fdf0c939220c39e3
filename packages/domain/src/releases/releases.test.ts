import { assert, constantFrom, property, string, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareReleases,
  firstSeenRelease,
  isComparable,
  isNewRelease,
  releaseMaxLength,
  seeRelease,
} from './releases.ts';

// Ascending; the pre-releases of 1.0.0 are the example of semver.org, section 11.
const ascending = [
  '0.0.0-0',
  '0.0.0',
  '0.0.1',
  '0.1.0',
  '0.9.10',
  '0.10.0',
  '1.0.0-1',
  '1.0.0-2',
  '1.0.0-10',
  '1.0.0-99999999999999999999998',
  '1.0.0-99999999999999999999999',
  '1.0.0--',
  '1.0.0-Alpha',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.1.0',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-beta-2',
  '1.0.0-rc.1',
  '1.0.0',
  '1.0.1-0a',
  '1.0.1',
  '2.0.0',
  '10.0.0',
  '99999999999999999999998.0.0',
  '99999999999999999999999.0.0',
];

describe('comparing versions', () => {
  it('orders them as semver does', () => {
    for (const [index, version] of ascending.entries()) {
      for (const [other, against] of ascending.entries()) {
        expect([version, against, Math.sign(compareReleases(version, against) ?? Number.NaN)]).toEqual([
          version,
          against,
          Math.sign(index - other),
        ]);
      }
    }
  });

  it.each([
    ['1.2.3', 'v1.2.3'],
    ['1.2.3+a', '1.2.3+b.1'],
    ['v1.2.3-rc.1+5', '1.2.3-rc.1'],
  ])('finds %s equal to %s', (a, b) => {
    expect(compareReleases(a, b)).toBe(0);
    expect(compareReleases(b, a)).toBe(0);
  });

  it.each([
    'dev',
    '',
    'v',
    '1',
    '1.2',
    'v1.2',
    '1.2.3.4',
    '01.2.3',
    '1.02.3',
    '1.2.03',
    '1.2.3-',
    '1.2.3-01',
    '1.2.3-a..b',
    '1.2.3-a.',
    '1.2.3+',
    '1.2.3+a..b',
    '1.2.3+a+b',
    '-1.2.3',
    '1.-2.3',
    '1.2.x',
    'latest',
    'beta',
    'vv1.2.3',
    'V1.2.3',
    ' 1.2.3',
    '1.2.3 ',
    '1.2.3\n',
    'v 1.2.3',
    '1,2,3',
    '１.2.3',
    '1.2.3-ä',
    '1.2.3-a_b',
    '1e3.0.0',
    '0x1.0.0',
    'refs/tags/v1.2.3',
    `1.2.3-${'a'.repeat(releaseMaxLength)}`,
  ])('does not accept %j as a version', (text) => {
    expect(isComparable(text)).toBe(false);
    expect(compareReleases(text, '1.0.0')).toBeNull();
    expect(compareReleases('1.0.0', text)).toBeNull();
  });

  it.each([
    '0.0.0',
    'v1.2.3',
    '1.2.3-0',
    '1.2.3-0a.-.--1',
    '1.2.3+001',
    '1.2.3-x+y-z.0',
    `1.2.3-${'a'.repeat(releaseMaxLength - 6)}`,
  ])('accepts %j as a version', (text) => {
    expect(isComparable(text)).toBe(true);
  });

  it('answers at once and without throwing, for any text', () => {
    assert(
      property(
        string({ unit: constantFrom('v', '0', '1', '9', '.', '-', '+', 'a', 'Z', '\0', 'é'), maxLength: 200 }),
        (text) => {
          expect(compareReleases(text, text)).toBe(isComparable(text) ? 0 : null);
        },
      ),
      { numRuns: 2_000 },
    );
    expect(isComparable('1.2.3-' + '0'.repeat(5_000_000))).toBe(false);
  });
});

describe('the release notice', () => {
  it.each([
    ['1.2.0', null, true],
    ['1.2.0', '1.1.9', true],
    ['1.2.0', '1.2.0-rc.1', true],
    ['1.2.0-rc.2', '1.2.0-rc.1', true],
    ['v1.2.0', '1.2.0', false],
    ['1.2.0', '1.2.0', false],
    ['1.2.0+b', '1.2.0+a', false],
    ['1.2.0', '1.3.0', false],
    ['1.2.0-rc.1', '1.2.0', false],
    ['1.2.0', 'dev', true],
    ['dev', null, false],
    ['dev', '1.2.0', false],
    ['', '1.2.0', false],
  ])('running %j, last seen %j: new is %j', (running, lastSeen, isNew) => {
    expect(isNewRelease(running, lastSeen)).toBe(isNew);
  });

  it('is not shown to an account created under the running release', () => {
    for (const running of ['1.2.3', 'v1.2.3', '1.2.3-rc.1+5'])
      expect(isNewRelease(running, firstSeenRelease(running))).toBe(false);
  });

  it('gives a new account the running release without its v, and none on dev', () => {
    expect(firstSeenRelease('v1.2.3-rc.1+5')).toBe('1.2.3-rc.1+5');
    expect(firstSeenRelease('dev')).toBeNull();
  });
});

describe('seeing a release', () => {
  it.each([
    ['1.2.0', '1.2.0', null, '1.2.0'],
    ['1.2.0', 'v1.2.0', '1.1.0', '1.2.0'],
    ['v1.2.0', '1.1.5', '1.1.0', '1.1.5'],
    ['1.2.0', '1.2.0-rc.1', '1.1.0', '1.2.0-rc.1'],
    ['1.2.0', '1.1.0', '1.1.5', '1.1.5'],
    ['1.2.0', '1.2.0', '1.3.0', '1.3.0'],
    ['1.2.0', '1.2.0+b', '1.2.0', '1.2.0'],
    ['1.2.0', '1.2.0+b', null, '1.2.0+b'],
    ['1.2.0', '1.1.0', 'dev', '1.1.0'],
  ])('running %j, requested %j, last seen %j: stores %j', (running, requested, lastSeen, stored) => {
    expect(seeRelease(running, requested, lastSeen)).toBe(stored);
  });

  it.each(['', 'dev', 'latest', '1.2', '1.2.0 ', `1.2.0-${'a'.repeat(200)}`])(
    'refuses %j, which is not a version',
    (requested) => {
      expect(() => seeRelease('1.2.0', requested, null)).toThrow(
        expect.objectContaining({
          kind: 'invalid',
          code: 'VALIDATION_FAILED',
          details: [{ path: 'version', message: expect.any(String) }],
        }),
      );
    },
  );

  it.each([
    ['1.2.0', '1.2.1'],
    ['1.2.0', '1.3.0-alpha'],
    ['1.2.0-rc.1', '1.2.0'],
    ['1.2.0-rc.1', '1.2.0-rc.2'],
    ['1.2.0', '99999999999999999999999.0.0'],
  ])('running %j, refuses %j, which is above it', (running, requested) => {
    expect(() => seeRelease(running, requested, '9.9.9')).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        code: 'VALIDATION_FAILED',
        details: [{ path: 'version', message: 'must not be above the running release' }],
      }),
    );
  });

  it.each(['dev', '', 'latest'])('is not comparable while %j runs', (running) => {
    for (const requested of ['dev', '1.2.0', '']) {
      expect(() => seeRelease(running, requested, '1.0.0')).toThrow(
        expect.objectContaining({ kind: 'invalid', code: 'NOT_COMPARABLE' }),
      );
    }
  });

  it('never lowers the seen release and never stores one above the running release', () => {
    const version = constantFrom(...ascending);
    assert(
      property(tuple(version, version, version), ([running, requested, lastSeen]) => {
        const isAbove = (compareReleases(requested, running) ?? 0) > 0;
        if (isAbove) {
          expect(() => seeRelease(running, requested, lastSeen)).toThrow('above');
          return;
        }
        const stored = seeRelease(running, requested, lastSeen);
        expect([requested, lastSeen]).toContain(stored);
        expect(compareReleases(stored, lastSeen)).toBeGreaterThanOrEqual(0);
        expect(compareReleases(stored, requested)).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 2_000 },
    );
  });
});
