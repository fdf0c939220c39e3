import sharp from 'sharp';
import { invalid } from '@portal/domain/errors';
import { avatarSide, decodeTimeoutSec, maxPixels } from './avatar-limits.ts';

sharp.cache(false);
sharp.concurrency(1);
// Whatever the bytes look like to the library, no other decoder than these three is ever run.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'] });

// Selfies of some Samsung phones carry this one, and every browser shows them (sharp's issue 1578).
const harmlessWarning = /^VipsJpeg: Invalid SOS parameters for sequential JPEG\s*$/;

/** A task for a process of its own: an upload in, the avatar out. Throws 400 `UNSUPPORTED_IMAGE`. */
export async function run(upload: Uint8Array): Promise<Uint8Array> {
  try {
    return await decode(upload, 'warning').catch((error: Error) =>
      harmlessWarning.test(error.message) ? decode(upload, 'error') : Promise.reject(error),
    );
  } catch (error) {
    throw invalid('UNSUPPORTED_IMAGE', 'This image is damaged or incomplete.', { cause: error });
  }
}

async function decode(upload: Uint8Array, failOn: 'warning' | 'error'): Promise<Buffer> {
  const image = sharp(upload, { failOn, limitInputPixels: maxPixels, sequentialRead: true });
  const { width, height } = await image.metadata();
  const side = Math.min(width, height, avatarSide);
  // Turned upright before it is cropped. Metadata stays behind and colors become sRGB, because nothing asks for them to be kept.
  const avatar = image
    .autoOrient()
    .resize(side, side, { fit: 'cover' })
    .webp({ quality: 82 })
    .timeout({ seconds: decodeTimeoutSec });
  return avatar.toBuffer();
}
