import { describe, expect, it } from 'vitest';
import { afterCheck, isMassOutage, type TrafficLight, lightOf, type InstanceState } from './checks.ts';
import type { VersionAssessment } from './releases.ts';

describe('checks in a row', () => {
  /** The events of a sequence of checks, `.` reached and `x` failed. */
  function events(sequence: string, start: Partial<InstanceState> = {}): string {
    let state: InstanceState = { isActive: true, reportedState: 'ok', consecutiveFailures: 0, ...start };
    return [...sequence]
      .map((check) => {
        const { event, ...next } = afterCheck(state, check === '.');
        state = { ...state, ...next };
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
  ])('%s report %s', (sequence, reported) => {
    expect(events(sequence)).toBe(reported);
  });

  it('report a recovery but no failure while the instance is switched off', () => {
    expect(events('xxxx', { isActive: false })).toBe('----');
    expect(events('x', { consecutiveFailures: 4 })).toBe('F');
    expect(events('x.', { isActive: false, reportedState: 'failed', consecutiveFailures: 2 })).toBe('-R');
  });

  it('are counted up to a limit', () => {
    const state = { isActive: true, reportedState: 'failed', consecutiveFailures: 1_000_000 } as const;
    expect(afterCheck(state, false).consecutiveFailures).toBe(1_000_000);
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

  it.each<[TrafficLight, string, Partial<Parameters<typeof lightOf>[0]>, Partial<typeof version>]>([
    ['green', 'reached and current', {}, {}],
    ['green', 'a newer major', {}, { versionAssessment: 'major-available' }],
    ['green', 'a recent patch', {}, { versionAssessment: 'patch-available' }],
    ['yellow', 'an overdue patch', {}, { versionAssessment: 'patch-available', isPatchOverdue: true }],
    ['yellow', 'support that ends soon', {}, { versionAssessment: 'support-ending' }],
    ['yellow', 'maintenance', { isMaintenance: true }, {}],
    ['yellow', 'maintenance of an unknown version', { isMaintenance: true }, { versionAssessment: 'unknown' }],
    ['yellow', 'an unfinished update', { needsDbUpgrade: true }, {}],
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

it('failures are reported together from 20 instances and from 80 percent on', () => {
  expect(isMassOutage({ failing: 20, checked: 25 })).toBe(true);
  expect(isMassOutage({ failing: 20, checked: 26 })).toBe(false);
  expect(isMassOutage({ failing: 19, checked: 19 })).toBe(false);
});
