import sharp from 'sharp';
import { invalid } from '@portal/domain/errors';
import { avatarSide, decodeTimeoutSec, maxPixels } from './avatar-limits.ts';

sharp.cache(false);
sharp.concurrency(1);
// The library may run only these three decoders, regardless of the format it detects.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'] });

// Selfies of some Samsung phones cause this warning, and every browser shows them (sharp issue 1578).
const harmlessWarning = /^VipsJpeg: Invalid SOS parameters for sequential JPEG\s*$/;

/** A sandbox task: decodes an upload and returns the avatar. Throws 400 `UNSUPPORTED_IMAGE`. */
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
  // Rotates before cropping. By default sharp drops the metadata and converts colors to sRGB.
  const avatar = image
    .autoOrient()
    .resize(side, side, { fit: 'cover' })
    .webp({ quality: 82 })
    .timeout({ seconds: decodeTimeoutSec });
  return avatar.toBuffer();
}
