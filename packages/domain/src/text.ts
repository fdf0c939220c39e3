import { z } from 'zod';

// C0 and C1 controls and the line and paragraph separators: none of them belongs in a name or title.
// oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
export const controlInLine = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/u;
// oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
const controlInText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/u;

/** Trimmed, no control characters, at most `max` characters (200 unless stated). */
export const line = (max = 200) =>
  z
    .string()
    .trim()
    .max(max)
    .refine((value) => !controlInLine.test(value), 'must not contain control characters')
    .refine((value) => value.isWellFormed(), 'must be valid Unicode text');

/** An optional line; a blank one becomes null. */
export const lineOrNull = (max?: number) =>
  line(max)
    .nullable()
    .overwrite((value) => (value === '' ? null : value));

/** A line that must not be empty. */
export const requiredLine = (max = 200) => line(max).min(1, 'must not be empty');

/** Multi-line text: tabs and line breaks pass, other control characters do not. */
export const text = (max = 10_000) =>
  z
    .string()
    .max(max)
    .refine((value) => !controlInText.test(value), 'must not contain control characters')
    .refine((value) => value.isWellFormed(), 'must be valid Unicode text');

// Characters that could break a line, a database value or the text direction.
const unshowable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029\s]+/gu;

/** Cleans foreign text for storage and display: one well-formed line of at most `max` characters; empty if nothing is left. */
export function shownLine(text: string, max = 200): string {
  // Cut first: cleaning megabytes would take long.
  const line = text
    .slice(0, 10 * max)
    .replaceAll(unshowable, ' ')
    .trim();
  return line.length <= max ? line : [...line].slice(0, max).join('').trim();
}

/** Cleans a file name for display: one line of at most 200 characters, no folders; `fallback` if nothing is left. */
export function shownFileName(name: string | undefined, fallback: string): string {
  const last = (name ?? '').split(/[/\\]/).at(-1) ?? '';
  const shown = [...last.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '').trim()].slice(0, 200).join('').trim();
  return shown === '' ? fallback : shown;
}
