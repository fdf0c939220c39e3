import { z } from 'zod';
import { line, requiredLine, text } from '../text.ts';

/** Largest screenshot (4 MiB). */
export const screenshotMaxBytes = 4 * 1024 * 1024;

// PNG, third edition, section 5.2.
const pngSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Whether a file has the PNG signature. The portal passes the file on without decoding it, so it checks nothing else. */
export const isPng = (bytes: Uint8Array): boolean => pngSignature.every((byte, at) => bytes[at] === byte);

/** A detail of the reporter's app, sent by the app. Missing details come from the user agent. A blank field counts as missing. */
const OriginField = line().optional();

/** A bug report without its screenshot. */
export const BugReport = z.object({
  title: requiredLine(),
  description: text(),
  // An empty text counts as missing here as well.
  originKind: z
    .enum(['web', 'desktop'])
    .or(z.literal('').transform(() => undefined))
    .optional(),
  originVersion: OriginField,
  originPlatform: OriginField,
  originArch: OriginField,
});
export type BugReport = z.output<typeof BugReport>;
