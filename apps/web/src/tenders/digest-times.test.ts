import { describe, expect, it } from 'vitest';
import { nextDigestAt } from './digest-times.ts';

const next = (rhythm: 'daily' | 'weekly', now: string) => nextDigestAt(rhythm, Date.parse(now));

describe('the next digest', () => {
  it('goes out at seven in Berlin, today or tomorrow', () => {
    expect(next('daily', '2026-11-26T05:59:00Z')).toBe('2026-11-26T06:00:00.000Z');
    expect(next('daily', '2026-11-26T06:00:00Z')).toBe('2026-11-27T06:00:00.000Z');
  });

  it('of a week goes out on Monday', () => {
    expect(next('weekly', '2026-11-26T05:00:00Z')).toBe('2026-11-30T06:00:00.000Z');
    expect(next('weekly', '2026-11-30T05:59:00Z')).toBe('2026-11-30T06:00:00.000Z');
    expect(next('weekly', '2026-11-30T06:01:00Z')).toBe('2026-12-07T06:00:00.000Z');
    expect(next('weekly', '2026-11-29T20:00:00Z')).toBe('2026-11-30T06:00:00.000Z');
  });

  it('follows the change of the clocks', () => {
    expect(next('daily', '2026-03-28T12:00:00Z')).toBe('2026-03-29T05:00:00.000Z');
    expect(next('daily', '2026-10-24T12:00:00Z')).toBe('2026-10-25T06:00:00.000Z');
  });
});
