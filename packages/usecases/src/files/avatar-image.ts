import { fileURLToPath } from 'node:url';
import { invalid, type PortalError, unavailable } from '@portal/domain/errors';
import { findForeignContent } from '@portal/domain/foreign-content';
import { detectImageType, findImageEnd, readImageHeader } from '@portal/domain/image-type';
import { openSlots } from '../run/slots.ts';
import { decodeTimeoutSec, maxPixels, maxScans, maxSide } from './avatar-limits.ts';
import { runApart } from './run-apart.ts';

export interface AvatarImages {
  /**
   * The avatar in an upload: a square WebP of at most 512 pixels, upright, sRGB, made anew from the pixels alone.
   * Throws 400 `UNSUPPORTED_IMAGE` for anything but a whole PNG, JPEG or WebP of acceptable size that is nothing else
   * besides, 503 when too many others wait.
   */
  fromUpload(upload: Uint8Array): Promise<Uint8Array>;
}

const program = fileURLToPath(new URL('avatar-decoder.ts', import.meta.url));

const startOfScan = Buffer.from([0xff, 0xda]);

// An avatar of pure noise, transparency included, has 450 kB.
const outputLimit = 1024 * 1024;

/**
 * Avatars from uploads, one at a time, each decoded by a process of its own. Fifty hostile images decoded inside a process
 * left it 260 MB larger for good and with a peak of 626 MB; here the memory goes with the process, and so would a decoder
 * that crashes or never ends.
 */
export function openAvatarImages({
  // Each waiting upload is held in memory, 2 MiB at most; an image takes some 0.3 s.
  queueLimit = 10,
  timeoutMs = decodeTimeoutSec * 1_000,
} = {}): AvatarImages {
  const inSlot = openSlots({
    slots: 1,
    queueLimit,
    refusal: () => unavailable('Too many pictures are being uploaded right now. Please try again in a few seconds.'),
  });
  return {
    async fromUpload(upload) {
      checkImage(upload);
      return inSlot(() => decode(upload, timeoutMs));
    },
  };
}

function checkImage(upload: Uint8Array): void {
  const header = readImageHeader(upload);
  if (!header || header.type === 'image/gif') throw unsupported('This is no PNG, JPEG or WebP image.');
  const { type, width, height } = header;
  if (width * height > maxPixels || width > maxSide || height > maxSide) {
    throw unsupported(
      `This image is too large: at most ${maxPixels / 1_000_000} megapixels and ${maxSide} pixels a side.`,
    );
  }
  if (type === 'image/jpeg' && countScans(upload) > maxScans) throw unsupported('This JPEG has too many scans.');
  const foreign = findForeignContent(upload);
  if (foreign !== null) {
    throw unsupported(
      `This file is more than a picture: it also holds ${foreign}. Please export the picture again without attachments.`,
    );
  }
  if (findImageEnd(upload) === null) throw unsupported('This image is damaged or incomplete.');
}

/** How often a scan may start in a JPEG; other data can look like a start, scans themselves cannot. */
function countScans(jpeg: Uint8Array): number {
  const bytes = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength);
  let scans = 0;
  for (let at = bytes.indexOf(startOfScan); at !== -1; at = bytes.indexOf(startOfScan, at + 2)) scans += 1;
  return scans;
}

async function decode(upload: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
  const { how, output, cause } = await runApart(program, upload, { timeoutMs, outputLimit });
  if (how === 'timed out') throw unsupported('This image takes too long to read. Please choose another.', cause);
  if (how === 'refused') throw unsupported('This image is damaged or incomplete.', cause);
  if (how === 'failed' || detectImageType(output) !== 'image/webp') throw cause;
  return output;
}

const unsupported = (message: string, cause?: unknown): PortalError => invalid('UNSUPPORTED_IMAGE', message, { cause });
