interface Size {
  width: number;
  height: number;
}

/** A square part of a picture. The centre is in pixels of the picture; at zoom 1 the square is as large as the picture allows. */
export interface Crop {
  x: number;
  y: number;
  zoom: number;
}

export const maxZoom = 4;

/** The largest square in the middle. */
export const startCrop = ({ width, height }: Size): Crop => ({ x: width / 2, y: height / 2, zoom: 1 });

/** Moves the square by parts of its own side; it stays inside the picture. */
export function moveCrop(crop: Crop, size: Size, right: number, down: number): Crop {
  const side = sideOf(crop, size);
  return within({ ...crop, x: crop.x + right * side, y: crop.y + down * side }, size);
}

/** Changes the size of the square around its centre, as far as the edges of the picture allow. */
export const zoomCrop = (crop: Crop, size: Size, zoom: number): Crop =>
  within({ ...crop, zoom: clamp(zoom, 1, maxZoom) }, size);

/** The square in pixels of the picture. */
export function squareOf(crop: Crop, size: Size): { left: number; top: number; side: number } {
  const side = sideOf(crop, size);
  return { left: crop.x - side / 2, top: crop.y - side / 2, side };
}

/** The size at which a picture is decoded: enough for a sharp crop, at a fraction of the memory that a camera's picture needs. */
export function decodedSize({ width, height }: Size, maxShortSide = 2_048, maxLongSide = 8_192): Size {
  const scale = Math.min(1, maxShortSide / Math.min(width, height), maxLongSide / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

const sideOf = ({ zoom }: Crop, { width, height }: Size): number => Math.min(width, height) / zoom;

function within(crop: Crop, size: Size): Crop {
  const half = sideOf(crop, size) / 2;
  return { ...crop, x: clamp(crop.x, half, size.width - half), y: clamp(crop.y, half, size.height - half) };
}

const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);
