import { describe, expect, it } from 'vitest';
import { afterCheck, areMailedTogether, type Light, lightOf, type Standing } from './checks.ts';
import type { VersionAssessment } from './releases.ts';

describe('checks in a row', () => {
  /** The events of a sequence of checks, `.` reached and `x` failed. */
  function events(sequence: string, start: Partial<Standing> = {}): string {
    let standing: Standing = { isActive: true, reportedState: 'ok', consecutiveFailures: 0, ...start };
    return [...sequence]
      .map((check) => {
        const { event, ...next } = afterCheck(standing, check === '.');
        standing = { ...standing, ...next };
        return event === null ? '-' : { failed: 'F', recovered: 'R' }[event];
      })
      .join('');
  }

  it.each([
    ['.', '-'],
    ['....', '----'],
    ['x.x.x.', '------'],
    ['xx', '-F'],
    ['xxxx.', '-F--R'],
    ['.xx.xx.', '--FR-FR'],
    ['xx..x', '-FR--'],
  ])('%s tell %s', (sequence, told) => {
    expect(events(sequence)).toBe(told);
  });

  it('of an instance that is switched off tell no failure, but an end', () => {
    expect(events('xxxx', { isActive: false })).toBe('----');
    expect(events('x', { consecutiveFailures: 4 })).toBe('F');
    expect(events('x.', { isActive: false, reportedState: 'failed', consecutiveFailures: 2 })).toBe('-R');
  });

  it('are counted up to a bound', () => {
    const standing = { isActive: true, reportedState: 'failed', consecutiveFailures: 1_000_000 } as const;
    expect(afterCheck(standing, false).consecutiveFailures).toBe(1_000_000);
  });
});

describe('the light', () => {
  const good = {
    isActive: true,
    lastCheckState: 'ok',
    reportedState: 'ok',
    isMaintenance: false,
    needsDbUpgrade: false,
  } as const;
  const version = { versionAssessment: 'current' as VersionAssessment, isPatchOverdue: false };

  it.each<[Light, string, Partial<Parameters<typeof lightOf>[0]>, Partial<typeof version>]>([
    ['green', 'reached and current', {}, {}],
    ['green', 'a newer major', {}, { versionAssessment: 'major-available' }],
    ['green', 'a patch that came lately', {}, { versionAssessment: 'patch-available' }],
    [
      'yellow',
      'a patch that has been there for long',
      {},
      { versionAssessment: 'patch-available', isPatchOverdue: true },
    ],
    ['yellow', 'support that ends', {}, { versionAssessment: 'support-ending' }],
    ['yellow', 'maintenance', { isMaintenance: true }, {}],
    ['yellow', 'maintenance of an unknown version', { isMaintenance: true }, { versionAssessment: 'unknown' }],
    ['yellow', 'an update to be ended', { needsDbUpgrade: true }, {}],
    ['yellow', 'one failed check', { lastCheckState: 'failed' }, {}],
    ['red', 'a reported failure', { lastCheckState: 'failed', reportedState: 'failed' }, {}],
    ['red', 'no support any more', {}, { versionAssessment: 'end-of-life' }],
    ['red', 'no support and maintenance', { isMaintenance: true }, { versionAssessment: 'end-of-life' }],
    ['red', 'no support and one failed check', { lastCheckState: 'failed' }, { versionAssessment: 'end-of-life' }],
    ['grey', 'an unknown version', {}, { versionAssessment: 'unknown' }],
    ['grey', 'no check so far', { lastCheckState: null }, { versionAssessment: 'unknown' }],
    ['grey', 'switched off', { isActive: false }, {}],
    ['grey', 'switched off while down', { isActive: false, lastCheckState: 'failed', reportedState: 'failed' }, {}],
  ])('is %s for %s', (light, _what, changes, assessed) => {
    expect(lightOf({ ...good, ...changes }, { ...version, ...assessed })).toBe(light);
  });
});

it('failures are told together from 20 and from 80 percent on', () => {
  expect(areMailedTogether({ failing: 20, checked: 25 })).toBe(true);
  expect(areMailedTogether({ failing: 20, checked: 26 })).toBe(false);
  expect(areMailedTogether({ failing: 19, checked: 19 })).toBe(false);
});
