import { isHeic, isVector } from '../dashboards/picture-files.ts';
import { decodedSize } from './crop.ts';

type Unreadable = 'vector' | 'heic' | 'tooLarge' | 'damaged';

/** Why a file cannot become an avatar. */
export class UnreadablePicture extends Error {
  readonly reason: Unreadable;

  constructor(reason: Unreadable, cause?: unknown) {
    super(`The picture cannot be read: ${reason}.`, { cause });
    this.name = 'UnreadablePicture';
    this.reason = reason;
  }
}

// A decoder needs four bytes a pixel for a moment, and more would end the tab on a small device.
const maxPixels = 100_000_000;

/** Decodes a picture, upright and no larger than a crop needs; of a moving one, the first frame. Throws `UnreadablePicture`. */
export async function openPicture(file: File): Promise<ImageBitmap> {
  if (isVector(file)) throw new UnreadablePicture('vector');
  const address = URL.createObjectURL(file);
  try {
    const image = await load(address);
    const size = { width: image.naturalWidth, height: image.naturalHeight };
    if (size.width * size.height > maxPixels) throw new UnreadablePicture('tooLarge');
    const { width, height } = decodedSize(size);
    return await createImageBitmap(image, { resizeWidth: width, resizeHeight: height, resizeQuality: 'high' });
  } catch (error) {
    if (error instanceof UnreadablePicture) throw error;
    throw new UnreadablePicture(isHeic(file) ? 'heic' : 'damaged', error);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Knows the size of a picture before it is decoded. */
const load = (address: string) =>
  new Promise<HTMLImageElement>((resolve, reject) => {
    const image = new Image();
    image.addEventListener('load', () => resolve(image));
    image.addEventListener('error', () => reject(new Error('no picture')));
    image.src = address;
  });
