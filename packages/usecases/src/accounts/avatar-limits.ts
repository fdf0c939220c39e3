/** Longest side of a stored avatar, pixels. */
export const avatarSide = 512;

/**
 * Most pixels of an upload. Holds the pictures of 24 megapixel cameras; decoding the worst image of this size
 * (16 bits, transparent, interlaced) was measured to take 410 MB in the decoder's own process, an ordinary photo 100 MB.
 */
export const maxPixels = 25_000_000;

/** Longest side of an upload: memory grows with the length of a row, whatever the pixels. */
export const maxSide = 12_000;

/** Most scans of a JPEG. Cameras and editors write up to some twenty; each costs a pass over all pixels, however short it is. */
export const maxScans = 100;

export const decodeTimeoutSec = 10;

/** What decoding may take, process included: half as much again as the worst image was measured to. */
export const decodeMemoryMb = 600;
