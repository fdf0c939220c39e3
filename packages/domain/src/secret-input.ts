import { z } from 'zod';

/** Shown instead of a stored secret. */
export const secretMask = '********';

/**
 * A secret in a body that saves or tests settings. Missing, blank or masked means the stored secret, if it may be sent to the new target
 * (`mayTravel`); null removes it.
 */
export const SecretInput = z
  .string()
  .max(1_000)
  // UTF-8 encoding would replace a lone surrogate, so we would seal and send another secret.
  .refine((value) => value.isWellFormed(), 'must be valid Unicode text')
  .nullish()
  .meta({ description: 'If missing, blank or masked, the stored secret is kept; null removes it', format: 'password' });
export type SecretInput = z.output<typeof SecretInput>;

/** The change to the stored secret: keep it, remove it, or set a new one. */
export function secretChange(
  input: SecretInput,
): { kind: 'keep' } | { kind: 'remove' } | { kind: 'set'; value: string } {
  if (input === null) return { kind: 'remove' };
  if (input === undefined || input === '' || input === secretMask) return { kind: 'keep' };
  return { kind: 'set', value: input };
}
