import { expect, it } from 'vitest';
import { mailTime } from './mail-time.ts';

it('is Berlin time in winter and in summer', () => {
  expect(mailTime(new Date('2026-11-28T08:44:00Z'))).toBe('28. November 2026 um 09:44 Uhr');
  expect(mailTime(new Date('2026-07-03T22:05:00Z'))).toBe('4. Juli 2026 um 00:05 Uhr');
});

it('names the zone for English readers', () => {
  expect(mailTime(new Date('2026-11-28T08:44:00Z'), 'en')).toBe('28 November 2026 at 09:44 (Berlin time)');
});
