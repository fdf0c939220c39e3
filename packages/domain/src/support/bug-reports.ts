import { z } from 'zod';
import { line, requiredLine, text } from '../text.ts';

/** What a screenshot may weigh (specification, Limits: 4 MiB). */
export const screenshotMaxBytes = 4 * 1024 * 1024;

// PNG, third edition, section 5.2.
const pngSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Whether a file says that it is a PNG. It goes on as it is and nobody here decodes it, so that is all that is asked of it. */
export const isPng = (bytes: Uint8Array): boolean => pngSignature.every((byte, at) => bytes[at] === byte);

/** What the reporter uses, as the app says itself; without it the user agent is asked. A blank field counts as left out. */
const OriginField = line().optional();

/** A bug report without its screenshot. */
export const BugReport = z.object({
  title: requiredLine(),
  description: text(),
  // As of the others, nothing typed is nothing said.
  originKind: z
    .enum(['web', 'desktop'])
    .or(z.literal('').transform(() => undefined))
    .optional(),
  originVersion: OriginField,
  originPlatform: OriginField,
  originArch: OriginField,
});
export type BugReport = z.output<typeof BugReport>;
