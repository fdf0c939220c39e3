import { describe, expect, it } from 'vitest';
import { lastDigestTime } from './digest-times.ts';

const times = (rhythm: 'daily' | 'weekly', from: string, hours: number) => {
  const start = new Date(from).getTime();
  const found = Array.from({ length: hours * 12 }, (_, n) => lastDigestTime(rhythm, new Date(start + n * 300_000)));
  return [...new Set(found.map(({ day, at }) => `${day} ${at.toISOString()}`))];
};

describe('the time of a digest', () => {
  it.each([
    ['2027-03-27T12:00:00Z', ['2027-03-27 2027-03-27T06:00:00.000Z', '2027-03-28 2027-03-28T05:00:00.000Z']],
    ['2026-10-24T12:00:00Z', ['2026-10-24 2026-10-24T05:00:00.000Z', '2026-10-25 2026-10-25T06:00:00.000Z']],
  ])('comes once in the night when the clock changes, from %s on', (from, expected) => {
    expect(times('daily', from, 24)).toEqual(expected);
  });

  it('is on Mondays for a weekly digest', () => {
    expect(times('weekly', '2026-11-21T00:00:00Z', 10 * 24)).toEqual([
      '2026-11-16 2026-11-16T06:00:00.000Z',
      '2026-11-23 2026-11-23T06:00:00.000Z',
      '2026-11-30 2026-11-30T06:00:00.000Z',
    ]);
  });

  it('is at seven, not before', () => {
    expect(lastDigestTime('daily', new Date('2026-11-20T05:59:59.999Z')).day).toBe('2026-11-19');
    expect(lastDigestTime('daily', new Date('2026-11-20T06:00:00Z')).day).toBe('2026-11-20');
  });
});
