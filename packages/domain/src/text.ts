import { z } from 'zod';

// C0 and C1 controls and the line and paragraph separators: none of them belongs in a name or title.
// oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
const controlInLine = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/u;
// oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
const controlInText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/u;

/** Trimmed, no control characters, at most `max` characters (contract section 1: 200 unless stated). */
export const line = (max = 200) =>
  z
    .string()
    .trim()
    .max(max)
    .refine((value) => !controlInLine.test(value), 'must not contain control characters')
    .refine((value) => value.isWellFormed(), 'must be valid Unicode text');

/** A line that says something. */
export const requiredLine = (max = 200) => line(max).min(1, 'must not be empty');

/** Multi-line text: tabs and line breaks pass, other control characters do not. */
export const text = (max = 10_000) =>
  z
    .string()
    .max(max)
    .refine((value) => !controlInText.test(value), 'must not contain control characters')
    .refine((value) => value.isWellFormed(), 'must be valid Unicode text');
