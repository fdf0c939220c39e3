import { invalid, type PortalError, unavailable } from '@portal/domain/errors';
import { detectImageType, readImageHeader } from '@portal/platform/images/image-type';
import { resource } from '@portal/platform/resource';
import type { TaskOwner } from '@portal/platform/sandbox/fair-share';
import type { Sandbox } from '@portal/platform/sandbox/open-sandbox';
import { TaskError, taskOf } from '@portal/platform/sandbox/task';
import type { run } from './avatar-decoder.ts';
import { decodeMemoryMb, decodeTimeoutSec, maxPixels, maxScans, maxSide } from './avatar-limits.ts';

export interface AvatarImages {
  /**
   * Makes an avatar from the pixels of an upload: an upright, square sRGB WebP of at most 512 pixels a side.
   * Throws 400 `UNSUPPORTED_IMAGE` for anything but an intact PNG, JPEG or WebP of acceptable size, 503 if too many uploads wait.
   */
  fromUpload(upload: Uint8Array, owner: TaskOwner): Promise<Uint8Array>;
}

const startOfScan = Buffer.from([0xff, 0xda]);

// An avatar of pure noise with transparency has 450 kB.
const outputLimit = 1024 * 1024;

/**
 * Decodes each upload in a sandbox process. Decoding fifty hostile images in the main process left it 260 MB larger for good, with a
 * peak of 626 MB. The sandbox process frees its memory when it ends, and contains decoders that crash or hang.
 */
export function openAvatarImages(sandbox: Sandbox, timeoutMs = decodeTimeoutSec * 1_000): AvatarImages {
  const decoding = taskOf<typeof run>(new URL('avatar-decoder.ts', import.meta.url), {
    timeoutMs,
    maxMemoryMb: decodeMemoryMb,
    maxOutputBytes: outputLimit,
  });
  return {
    async fromUpload(upload, owner) {
      checkImage(upload);
      let avatar: Uint8Array;
      try {
        avatar = await sandbox.run(decoding, upload, owner);
      } catch (error) {
        throw error instanceof TaskError ? refusalOf(error) : error;
      }
      if (detectImageType(avatar) === 'image/webp') return avatar;
      throw new Error('The avatar decoder did not return an avatar.');
    },
  };
}

/** Turns a failed sandbox task into the answer for the upload. */
function refusalOf(failure: TaskError): Error {
  const { reason, fault } = failure;
  if (fault === 'program') return failure;
  if (fault === 'outside')
    return unavailable('Pictures cannot be processed right now. Please try again later.', failure);
  if (reason === 'crashed') return unsupported('This image is damaged or incomplete.', failure);
  return unsupported(
    reason === 'timeout'
      ? 'This image takes too long to read. Please choose another.'
      : 'This image takes too much memory to read. Please choose another.',
    failure,
  );
}

function checkImage(upload: Uint8Array): void {
  const header = readImageHeader(upload);
  if (!header || header.type === 'image/gif') throw unsupported('This is not a PNG, JPEG or WebP image.');
  const { type, width, height } = header;
  if (width * height > maxPixels || width > maxSide || height > maxSide) {
    throw unsupported(
      `This image is too large: at most ${maxPixels / 1_000_000} megapixels and ${maxSide} pixels per side.`,
    );
  }
  if (type === 'image/jpeg' && countScans(upload) > maxScans) throw unsupported('This JPEG has too many scans.');
}

/** An upper bound for the scans in a JPEG: other data can look like the start of a scan, but scan data cannot. */
function countScans(jpeg: Uint8Array): number {
  const bytes = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength);
  let scans = 0;
  for (let at = bytes.indexOf(startOfScan); at !== -1; at = bytes.indexOf(startOfScan, at + 2)) scans += 1;
  return scans;
}

const unsupported = (message: string, cause?: unknown): PortalError => invalid('UNSUPPORTED_IMAGE', message, { cause });

export const avatarImages = resource(({ sandbox }) => openAvatarImages(sandbox));
