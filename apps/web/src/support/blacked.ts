/** A part of a picture, in parts of its width and height. */
export interface Part {
  left: number;
  top: number;
  width: number;
  height: number;
}

interface Point {
  x: number;
  y: number;
}

const clamp = (value: number, max = 1): number => Math.min(Math.max(value, 0), max);

/** The part between two corners, in any order, as far as it lies in the picture. */
export function partBetween(one: Point, other: Point): Part {
  const [left = 0, right = 0] = [clamp(one.x), clamp(other.x)].toSorted((a, b) => a - b);
  const [top = 0, bottom = 0] = [clamp(one.y), clamp(other.y)].toSorted((a, b) => a - b);
  return { left, top, width: right - left, height: bottom - top };
}

/** A click without a drag hides nothing. */
const least = 0.004;
export const isTooSmall = ({ width, height }: Part): boolean => width < least || height < least;

/** Moves a part, or its lower right corner alone; it stays in the picture. */
export function stepPart(part: Part, right: number, down: number, resizes: boolean): Part {
  const { left, top, width, height } = part;
  if (resizes) {
    return {
      ...part,
      width: Math.max(clamp(width + right, 1 - left), least),
      height: Math.max(clamp(height + down, 1 - top), least),
    };
  }
  return { ...part, left: clamp(left + right, 1 - width), top: clamp(top + down, 1 - height) };
}

/** The pixels of a part: all that it touches, so that no edge shows through. */
export function pixelsOf({ left, top, width, height }: Part, size: { width: number; height: number }) {
  const x = Math.floor(left * size.width);
  const y = Math.floor(top * size.height);
  return {
    x,
    y,
    width: Math.ceil((left + width) * size.width) - x,
    height: Math.ceil((top + height) * size.height) - y,
  };
}
