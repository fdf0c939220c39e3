import { describe, expect, it } from 'vitest';
import { decodedSize, maxZoom, moveCrop, squareOf, startCrop, zoomCrop } from './crop.ts';

const landscape = { width: 400, height: 200 };
const portrait = { width: 200, height: 400 };

describe('a crop', () => {
  it('starts as the largest square in the middle', () => {
    expect(squareOf(startCrop(landscape), landscape)).toEqual({ left: 100, top: 0, side: 200 });
    expect(squareOf(startCrop(portrait), portrait)).toEqual({ left: 0, top: 100, side: 200 });
  });

  it('moves by parts of its side', () => {
    const crop = moveCrop(startCrop(landscape), landscape, 0.25, 0);
    expect(squareOf(crop, landscape)).toEqual({ left: 150, top: 0, side: 200 });
  });

  it('stops at the edges of the picture', () => {
    const start = zoomCrop(startCrop(landscape), landscape, 2);
    expect(squareOf(moveCrop(start, landscape, 99, 99), landscape)).toEqual({ left: 300, top: 100, side: 100 });
    expect(squareOf(moveCrop(start, landscape, -99, -99), landscape)).toEqual({ left: 0, top: 0, side: 100 });
  });

  it('zooms around its centre', () => {
    expect(squareOf(zoomCrop(startCrop(landscape), landscape, 4), landscape)).toEqual({ left: 175, top: 75, side: 50 });
  });

  it('moves inward if it grows at an edge', () => {
    const corner = moveCrop(zoomCrop(startCrop(landscape), landscape, 4), landscape, 99, 99);
    expect(squareOf(zoomCrop(corner, landscape, 1), landscape)).toEqual({ left: 200, top: 0, side: 200 });
  });

  it.each([
    [0, 1],
    [-3, 1],
    [99, maxZoom],
  ])('at zoom %d has zoom %d', (wanted, zoom) => {
    expect(zoomCrop(startCrop(landscape), landscape, wanted).zoom).toBe(zoom);
  });

  it('of a picture with one pixel is that pixel', () => {
    const pixel = { width: 1, height: 1 };
    expect(squareOf(moveCrop(startCrop(pixel), pixel, 5, -5), pixel)).toEqual({ left: 0, top: 0, side: 1 });
  });
});

describe('decodedSize', () => {
  it('keeps a small picture', () => {
    expect(decodedSize({ width: 640, height: 480 })).toEqual({ width: 640, height: 480 });
  });

  it('scales a picture of 40 megapixels down', () => {
    expect(decodedSize({ width: 7_728, height: 5_152 })).toEqual({ width: 3_072, height: 2_048 });
  });

  it('limits the long side of a strip, and leaves a pixel of the short one', () => {
    expect(decodedSize({ width: 30_000, height: 2 })).toEqual({ width: 8_192, height: 1 });
  });
});
