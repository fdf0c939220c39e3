import { type Part, pixelsOf } from './blacked.ts';

/** A screenshot, and what of it must not be seen. */
export interface Picture {
  image: ImageBitmap;
  blacked: readonly Part[];
}

/** The largest screenshot that the service takes. */
const maxBytes = 4_194_304;
/** Larger ones would show nothing more, but take long to draw. */
const maxSide = 3_840;

/** Decodes a picture file. Throws if this browser cannot read it. */
export async function openPicture(file: Blob): Promise<Picture> {
  return { image: await inBounds(await createImageBitmap(file)), blacked: [] };
}

/** The picture, made smaller if a side is too long. */
export async function inBounds(image: ImageBitmap): Promise<ImageBitmap> {
  const scale = maxSide / Math.max(image.width, image.height);
  if (scale >= 1) return image;
  const resizeWidth = Math.max(1, Math.round(image.width * scale));
  const resizeHeight = Math.max(1, Math.round(image.height * scale));
  return createImageBitmap(image, { resizeWidth, resizeHeight, resizeQuality: 'high' });
}

/** Draws the picture as others will see it, as large as the canvas is. */
export function drawPicture(canvas: HTMLCanvasElement, { image, blacked }: Picture): CanvasRenderingContext2D | null {
  const context = canvas.getContext('2d');
  if (!context) return null;
  context.imageSmoothingQuality = 'high';
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  context.fillStyle = '#000';
  for (const part of blacked) {
    const { x, y, width, height } = pixelsOf(part, canvas);
    context.fillRect(x, y, width, height);
  }
  return context;
}

const smaller = 0.8;

/** The picture as a PNG of new pixels, so that nothing is left of the file or below the black; small enough to be sent. */
export async function pngOf(picture: Picture): Promise<File> {
  const canvas = document.createElement('canvas');
  for (let scale = 1; ; scale *= smaller) {
    canvas.width = Math.max(1, Math.round(picture.image.width * scale));
    canvas.height = Math.max(1, Math.round(picture.image.height * scale));
    drawPicture(canvas, picture);
    const png = await fileOf(canvas);
    if (png.size <= maxBytes) return png;
  }
}

/** What is sent in place of a screenshot, because the service takes no report without one. */
export async function pngOfWords(words: string): Promise<File> {
  const canvas = document.createElement('canvas');
  canvas.width = 320;
  canvas.height = 48;
  const context = canvas.getContext('2d');
  if (context) {
    context.fillStyle = '#fff';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.fillStyle = '#000';
    context.font = '16px sans-serif';
    context.fillText(words, 16, 30);
  }
  return fileOf(canvas);
}

const fileOf = (canvas: HTMLCanvasElement) =>
  new Promise<File>((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob) resolve(new File([blob], 'screenshot.png', { type: 'image/png' }));
      else reject(new Error('The canvas gave no picture.'));
    }, 'image/png');
  });
