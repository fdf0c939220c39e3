// A program of its own, started for one image at a time: an upload on standard input, the avatar on standard output.
// Exit code 65 says that the input is no image it takes.
import { writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import { avatarSide, decodeTimeoutSec, maxPixels } from './avatar-limits.ts';
import { notTaken } from './run-apart.ts';

// Short of memory, the kernel ends this process rather than the API (Linux alone knows this file).
await writeFile('/proc/self/oom_score_adj', '1000').catch(() => undefined);

sharp.cache(false);
sharp.concurrency(1);
// Whatever the bytes look like to the library, no other decoder than these three is ever run.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'] });

// Selfies of some Samsung phones carry this one, and every browser shows them (sharp's issue 1578).
const harmlessWarning = /^VipsJpeg: Invalid SOS parameters for sequential JPEG\s*$/;

const upload = Buffer.concat(await process.stdin.toArray());
try {
  process.stdout.write(
    await decode('warning').catch((error: Error) =>
      harmlessWarning.test(error.message) ? decode('error') : Promise.reject(error),
    ),
  );
} catch (error) {
  process.stderr.write(String(error));
  process.exitCode = notTaken;
}

async function decode(failOn: 'warning' | 'error'): Promise<Buffer> {
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
