import { crc32 } from 'node:zlib';

interface ImageSize {
  /** Pixels. */
  width: number;
  height: number;
}

interface ImageFormat {
  /** File extension for stored files of this type, without a dot. */
  extension: string;
  /** The size in the header of a file; null if it is not of this format. */
  readSize: (file: DataView) => ImageSize | null;
}

const formats = {
  'image/png': { extension: 'png', readSize: readPngSize },
  'image/jpeg': { extension: 'jpg', readSize: readJpegSize },
  'image/gif': { extension: 'gif', readSize: readGifSize },
  'image/webp': { extension: 'webp', readSize: readWebpSize },
} as const satisfies Record<string, ImageFormat>;

export type ImageType = keyof typeof formats;

export interface ImageHeader extends ImageSize {
  type: ImageType;
}

export const extensionOf = (type: ImageType): string => formats[type].extension;

/**
 * Reads and checks the headers of an image up to its first frame, without decoding it. Takes the whole file, or enough of its beginning to
 * contain the headers; null if it has none of the formats.
 */
export function readImageHeader(bytes: Uint8Array): ImageHeader | null {
  const file = viewOf(bytes);
  for (const [type, { readSize }] of Object.entries(formats) as [ImageType, ImageFormat][]) {
    const size = readSize(file);
    if (size) return { type, ...size };
  }
  return null;
}

/** Detects the type of an image from its content only, never from a name or declared type. */
export const detectImageType = (bytes: Uint8Array): ImageType | null => readImageHeader(bytes)?.type ?? null;

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const hasBytes = (file: DataView, at: number, expected: readonly number[]): boolean =>
  at + expected.length <= file.byteLength && expected.every((byte, index) => file.getUint8(at + index) === byte);

const ascii = (text: string): number[] => [...text].map((sign) => sign.charCodeAt(0));

const sizeUnlessEmpty = (width: number, height: number): ImageSize | null =>
  width > 0 && height > 0 ? { width, height } : null;

const pngSignature = [0x89, ...ascii('PNG'), 0x0d, 0x0a, 0x1a, 0x0a];
// Length and name of the header chunk, which must come first (PNG, third edition, 11.2.1).
const pngHeaderStart = [0, 0, 0, 13, ...ascii('IHDR')];
/** Bit depths by color type (ibid., table 12). */
const pngDepths: Record<number, number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

function readPngSize(file: DataView): ImageSize | null {
  if (file.byteLength < 33 || !hasBytes(file, 0, pngSignature) || !hasBytes(file, 8, pngHeaderStart)) return null;
  const [width, height] = [file.getUint32(16), file.getUint32(20)];
  const [depth, color, compression, filter, interlace] = [24, 25, 26, 27, 28].map((at) => file.getUint8(at)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const isValid = pngDepths[color]?.includes(depth) && compression === 0 && filter === 0 && interlace <= 1;
  const isWithinFormat = width < 2 ** 31 && height < 2 ** 31;
  const checksum = crc32(new Uint8Array(file.buffer, file.byteOffset + 12, 17));
  return isValid && isWithinFormat && checksum === file.getUint32(29) ? sizeUnlessEmpty(width, height) : null;
}

const startOfImage = [0xff, 0xd8, 0xff];
const startOfScan = 0xda;
/** Baseline, extended and progressive; browsers show no other kind of JPEG. */
const jpegFrames = [0xc0, 0xc1, 0xc2];
/** Markers that stand alone or cannot precede a frame: padding zero, TEM, RST0-7, SOI, EOI, and frames of other kinds. */
const isMisplacedInJpeg = (marker: number): boolean =>
  marker < 0xc0 ||
  (marker >= 0xd0 && marker <= startOfScan) ||
  (marker > 0xc2 && marker < 0xd0 && ![0xc4, 0xcc].includes(marker));

function readJpegSize(file: DataView): ImageSize | null {
  if (!hasBytes(file, 0, startOfImage)) return null;
  let at = 2;
  // Each round advances, so the loop ends with the file.
  while (at + 4 <= file.byteLength) {
    if (file.getUint8(at) !== 0xff) return null;
    const marker = file.getUint8(at + 1);
    if (marker === 0xff) {
      // Fill bytes may precede any marker.
      at += 1;
      continue;
    }
    const length = file.getUint16(at + 2);
    if (jpegFrames.includes(marker)) return readJpegFrame(file, at + 4, length);
    if (isMisplacedInJpeg(marker) || length < 2) return null;
    at += 2 + length;
  }
  return null;
}

function readJpegFrame(file: DataView, at: number, length: number): ImageSize | null {
  if (at + 6 > file.byteLength) return null;
  const [precision, components] = [file.getUint8(at), file.getUint8(at + 5)];
  const isValid = [8, 12].includes(precision) && components >= 1 && components <= 4 && length === 8 + 3 * components;
  return isValid ? sizeUnlessEmpty(file.getUint16(at + 3), file.getUint16(at + 1)) : null;
}

const gifExtension = 0x21;
const gifImage = 0x2c;

const gifColorTableBytes = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

function readGifSize(file: DataView): ImageSize | null {
  if (file.byteLength < 13 || !(hasBytes(file, 0, ascii('GIF87a')) || hasBytes(file, 0, ascii('GIF89a')))) return null;
  let at = 13 + gifColorTableBytes(file.getUint8(10));
  while (at + 10 <= file.byteLength) {
    const block = file.getUint8(at);
    if (block === gifImage) {
      const hasFrame = sizeUnlessEmpty(file.getUint16(at + 5, true), file.getUint16(at + 7, true)) !== null;
      return hasFrame ? sizeUnlessEmpty(file.getUint16(6, true), file.getUint16(8, true)) : null;
    }
    if (block !== gifExtension) return null;
    at = endOfGifSubBlocks(file, at + 2);
  }
  return null;
}

function endOfGifSubBlocks(file: DataView, from: number): number {
  let at = from;
  while (at < file.byteLength) {
    const length = file.getUint8(at);
    at += 1 + length;
    if (length === 0) break;
  }
  return at;
}

/** RFC 9649. */
function readWebpSize(file: DataView): ImageSize | null {
  if (file.byteLength < 20 || !hasBytes(file, 0, ascii('RIFF')) || !hasBytes(file, 8, ascii('WEBP'))) return null;
  const [fileSize, chunkSize] = [file.getUint32(4, true), file.getUint32(16, true)];
  // The first chunk lies within the file: format name, chunk header, chunk.
  if (fileSize < 12 + chunkSize) return null;
  const hasHeaderOf = (bytes: number) => chunkSize >= bytes && file.byteLength >= 20 + bytes;
  if (hasBytes(file, 12, ascii('VP8X'))) return hasHeaderOf(10) ? readWebpCanvas(file) : null;
  if (hasBytes(file, 12, ascii('VP8L'))) return hasHeaderOf(5) ? readWebpLossless(file) : null;
  if (hasBytes(file, 12, ascii('VP8 '))) return hasHeaderOf(10) ? readWebpLossy(file) : null;
  return null;
}

const readUint24 = (file: DataView, at: number): number => file.getUint16(at, true) | (file.getUint8(at + 2) << 16);

function readWebpCanvas(file: DataView): ImageSize | null {
  const [width, height] = [1 + readUint24(file, 24), 1 + readUint24(file, 27)];
  return width * height < 2 ** 32 ? { width, height } : null;
}

function readWebpLossless(file: DataView): ImageSize | null {
  const bits = file.getUint32(21, true);
  const version = bits >>> 29;
  return file.getUint8(20) === 0x2f && version === 0
    ? { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
    : null;
}

function readWebpLossy(file: DataView): ImageSize | null {
  const tag = readUint24(file, 20);
  const isShownKeyFrame = (tag & 1) === 0 && ((tag >> 1) & 7) <= 3 && ((tag >> 4) & 1) === 1;
  if (!isShownKeyFrame || !hasBytes(file, 23, [0x9d, 0x01, 0x2a])) return null;
  return sizeUnlessEmpty(file.getUint16(26, true) & 0x3fff, file.getUint16(28, true) & 0x3fff);
}
