/** Longest side of a stored avatar, in pixels. */
export const avatarSide = 512;

/**
 * Maximum pixels of an upload. Allows the pictures of 24 megapixel cameras. Measured memory of the decoder's process: 410 MB for
 * the worst image of this size (16 bits, transparent, interlaced), 100 MB for an ordinary photo.
 */
export const maxPixels = 25_000_000;

/** Longest side of an upload, in pixels: memory also grows with the length of a row. */
export const maxSide = 12_000;

/** Maximum scans of a JPEG. Cameras and editors write up to about twenty. Each costs a pass over all pixels, however short it is. */
export const maxScans = 100;

export const decodeTimeoutSec = 10;

/** Memory limit of the decoder's process: one and a half times the measured worst case. */
export const decodeMemoryMb = 600;
