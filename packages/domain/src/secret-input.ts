import { z } from 'zod';

/** Shown where a stored secret may not be (contract section 1). */
export const secretMask = '********';

/**
 * A secret in a body that sets or tries settings: missing, blank or masked means the stored one, as long as it goes where it was
 * stored for (`mayTravel`), null removes it.
 */
export const SecretInput = z
  .string()
  .max(1_000)
  // It would be sealed, and later sent, with another character in its place.
  .refine((value) => value.isWellFormed(), 'must be valid Unicode text')
  .nullish()
  .meta({ description: 'If missing, blank or masked, the stored secret is kept; null removes it', format: 'password' });
export type SecretInput = z.output<typeof SecretInput>;

/** What is to become of the stored secret: keep it, remove it, or set the one given. */
export function secretChange(
  input: SecretInput,
): { kind: 'keep' } | { kind: 'remove' } | { kind: 'set'; value: string } {
  if (input === null) return { kind: 'remove' };
  if (input === undefined || input === '' || input === secretMask) return { kind: 'keep' };
  return { kind: 'set', value: input };
}
