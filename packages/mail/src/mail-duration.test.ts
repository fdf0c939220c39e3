import { expect, it } from 'vitest';
import { mailDuration } from './mail-duration.ts';

it.each([
  [0, 'weniger als eine Minute'],
  [59_999, 'weniger als eine Minute'],
  [60_000, '1 Minute'],
  [65 * 60_000, '1 Stunde, 5 Minuten'],
  [49 * 3_600_000, '2 Tage, 1 Stunde'],
  [49 * 3_600_000 + 300_000, '2 Tage, 1 Stunde und 5 Minuten'],
])('%i ms are %s', (ms, text) => {
  expect(mailDuration(ms)).toBe(text);
});
