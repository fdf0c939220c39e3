import { crc32 } from 'node:zlib';
import { assert, constantFrom, nat, property, uint8Array } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { detectImageType, extensionOf, type ImageType, readImageHeader } from './image-type.ts';

const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');
const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
const uint16le = (value: number): Buffer => Buffer.from([value & 0xff, value >> 8]);
const uint24le = (value: number): Buffer => Buffer.from([value & 0xff, (value >> 8) & 0xff, value >> 16]);
const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const uint32le = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const png = (
  width: number,
  height: number,
  { depth = 8, color = 6, compression = 0, filter = 0, interlace = 0 } = {},
): Buffer => {
  const header = Buffer.concat([
    ascii('IHDR'),
    uint32(width),
    uint32(height),
    Buffer.from([depth, color, compression, filter, interlace]),
  ]);
  return Buffer.concat([pngSignature, uint32(13), header, uint32(crc32(header))]);
};

const segment = (marker: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xff, marker]), uint16(content.length + 2), content]);
const frame = (width: number, height: number, { marker = 0xc0, precision = 8, components = 3 } = {}): Buffer =>
  segment(
    marker,
    Buffer.concat([
      Buffer.from([precision]),
      uint16(height),
      uint16(width),
      Buffer.from([components]),
      Buffer.alloc(3 * components),
    ]),
  );
const app0 = segment(0xe0, ascii('JFIF\0\x01\x01\0\0\x01\0\x01\0\0'));
const jpeg = (...parts: Buffer[]): Buffer => Buffer.concat([Buffer.from([0xff, 0xd8]), ...parts]);

const gif = (width: number, height: number, { version = '89a', colors = 0x80, blocks = [] as Buffer[] } = {}): Buffer =>
  Buffer.concat([
    ascii(`GIF${version}`),
    uint16le(width),
    uint16le(height),
    Buffer.from([colors, 0, 0]),
    Buffer.alloc(colors & 0x80 ? 3 * 2 ** ((colors & 7) + 1) : 0),
    ...blocks,
    Buffer.from([0x2c, 0, 0, 0, 0]),
    uint16le(width),
    uint16le(height),
    Buffer.from([0]),
  ]);
const gifComment = Buffer.concat([
  Buffer.from([0x21, 0xfe, 3]),
  ascii('abc'),
  Buffer.from([2]),
  ascii('de'),
  Buffer.from([0]),
]);

const riff = (name: string, chunk: Buffer, size = chunk.length): Buffer =>
  Buffer.concat([ascii('RIFF'), uint32le(12 + size), ascii('WEBP'), ascii(name), uint32le(size), chunk]);
const lossy = (width: number, height: number, tag = 0x10): Buffer =>
  riff('VP8 ', Buffer.concat([uint24le(tag), Buffer.from([0x9d, 0x01, 0x2a]), uint16le(width), uint16le(height)]));
const lossless = (width: number, height: number, version = 0): Buffer =>
  riff(
    'VP8L',
    Buffer.concat([Buffer.from([0x2f]), uint32le(((width - 1) | ((height - 1) << 14) | (version << 29)) >>> 0)]),
  );
const canvas = (width: number, height: number): Buffer =>
  riff('VP8X', Buffer.concat([Buffer.alloc(4), uint24le(width - 1), uint24le(height - 1)]));

describe('reading an image header', () => {
  it.each<[string, Buffer, ImageType, number, number]>([
    ['a PNG', png(640, 480), 'image/png', 640, 480],
    ['an interlaced PNG of one bit', png(1, 2, { depth: 1, color: 0, interlace: 1 }), 'image/png', 1, 2],
    ['a PNG of 30,000 by 30,000', png(30_000, 30_000), 'image/png', 30_000, 30_000],
    ['a JPEG', jpeg(app0, frame(640, 480)), 'image/jpeg', 640, 480],
    ['a progressive JPEG', jpeg(frame(1, 65_535, { marker: 0xc2 })), 'image/jpeg', 1, 65_535],
    ['a gray JPEG', jpeg(frame(8, 8, { components: 1 })), 'image/jpeg', 8, 8],
    ['a CMYK JPEG', jpeg(frame(8, 8, { components: 4 })), 'image/jpeg', 8, 8],
    [
      'a JPEG with a long EXIF block and a comment',
      jpeg(segment(0xe1, Buffer.alloc(65_533)), segment(0xfe, ascii('<script>')), frame(3, 4)),
      'image/jpeg',
      3,
      4,
    ],
    ['a JPEG with fill bytes', jpeg(app0, Buffer.from([0xff, 0xff, 0xff]), frame(3, 4)), 'image/jpeg', 3, 4],
    ['a GIF', gif(640, 480), 'image/gif', 640, 480],
    ['an old GIF without a palette', gif(2, 3, { version: '87a', colors: 0 }), 'image/gif', 2, 3],
    [
      'a GIF with a large palette and extensions',
      gif(2, 3, { colors: 0xf7, blocks: [gifComment, gifComment] }),
      'image/gif',
      2,
      3,
    ],
    ['a lossy WebP', lossy(640, 480), 'image/webp', 640, 480],
    ['a scaled lossy WebP', lossy(640 | 0x4000, 480 | 0x8000), 'image/webp', 640, 480],
    ['a lossless WebP', lossless(16_384, 16_384), 'image/webp', 16_384, 16_384],
    ['an extended WebP', canvas(640, 480), 'image/webp', 640, 480],
  ])('knows %s', (_, bytes, type, width, height) => {
    expect(readImageHeader(bytes)).toEqual({ type, width, height });
    expect(detectImageType(bytes)).toBe(type);
  });

  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['text', ascii('GIF is a format, not this')],
    ['HTML', ascii('<!doctype html><script>alert(1)</script>'.padEnd(64))],
    ['SVG', ascii('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')],
    ['an icon', Buffer.from([0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0, 0, 0, 0, 0, 22, 0, 0, 0])],
    ['a ZIP', ascii('PK\x03\x04'.padEnd(64, '\0'))],
    ['a PDF', ascii('%PDF-1.7\n'.padEnd(64))],
    ['a BMP', ascii('BM'.padEnd(64, '\0'))],
    ['a TIFF', ascii('II*\0'.padEnd(64, '\0'))],
    ['an AVIF', ascii('\0\0\0\x20ftypavif'.padEnd(64, '\0'))],
    ['WAV sound in the container of WebP', ascii('RIFF\x40\0\0\0WAVEfmt '.padEnd(64, '\0'))],
    ['HTML behind the signature of PNG', Buffer.concat([pngSignature, ascii('<script>alert(1)</script>'.padEnd(64))])],
    [
      'HTML behind the signature of JPEG',
      Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), ascii('<script>alert(1)</script>'.padEnd(64))]),
    ],
    ['script behind the signature of GIF', ascii('GIF89a=1;alert(1);//'.padEnd(64))],
    ['HTML behind the signature of WebP', ascii('RIFF\xff\xff\0\0WEBP<script>alert(1)</script>'.padEnd(64))],
    ['an image behind something else', Buffer.concat([ascii('\n'), png(1, 1)])],
    ['a PNG without a size', png(0, 1)],
    ['a PNG of an impossible size', png(2 ** 31, 1)],
    ['a PNG of an impossible depth', png(1, 1, { depth: 4, color: 2 })],
    ['a PNG of an unknown color type', png(1, 1, { color: 5 })],
    ['a PNG of an unknown compression', png(1, 1, { compression: 1 })],
    ['a PNG of an unknown filter', png(1, 1, { filter: 1 })],
    ['a PNG of an unknown interlacing', png(1, 1, { interlace: 2 })],
    ['a PNG whose header was changed', Buffer.concat([png(1, 1).subarray(0, 29), uint32(0)])],
    ['a JPEG that ends before its frame', jpeg(app0)],
    ['a JPEG whose scan precedes its frame', jpeg(app0, segment(0xda, Buffer.alloc(10)), frame(1, 1))],
    ['a JPEG that ends at once', jpeg(Buffer.from([0xff, 0xd9]), frame(1, 1))],
    ['a lossless JPEG', jpeg(frame(1, 1, { marker: 0xc3 }))],
    ['an arithmetic JPEG', jpeg(frame(1, 1, { marker: 0xc9 }))],
    ['a JPEG without a size', jpeg(frame(1, 0))],
    ['a JPEG without components', jpeg(frame(1, 1, { components: 0 }))],
    ['a JPEG of five components', jpeg(frame(1, 1, { components: 5 }))],
    ['a JPEG of an impossible precision', jpeg(frame(1, 1, { precision: 7 }))],
    ['a JPEG with a segment shorter than its length', jpeg(Buffer.from([0xff, 0xe0, 0, 1]), frame(1, 1))],
    ['a GIF of an unknown version', gif(1, 1, { version: '90a' })],
    ['a GIF without a size', gif(0, 1)],
    ['a GIF without an image', Buffer.concat([gif(1, 1).subarray(0, 19), Buffer.from([0x3b]), Buffer.alloc(9)])],
    ['a WebP without a size', lossy(0, 1)],
    ['a WebP that starts with no key frame', lossy(1, 1, 0x11)],
    ['a WebP that starts with a hidden frame', lossy(1, 1, 0x00)],
    ['a lossless WebP of an unknown version', lossless(1, 1, 1)],
    ['a WebP of an unknown kind', riff('VP9 ', Buffer.alloc(20))],
    ['a WebP whose chunk is too short', riff('VP8X', Buffer.alloc(20), 4)],
    ['a WebP whose canvas is beyond the format', canvas(2 ** 24, 2 ** 24)],
  ])('knows %s for no image', (_, bytes) => {
    expect(readImageHeader(bytes)).toBeNull();
  });

  const whole = {
    PNG: png(7, 5),
    JPEG: jpeg(app0, frame(7, 5)).subarray(0, -9),
    GIF: gif(7, 5),
    lossy: lossy(7, 5),
    lossless: lossless(7, 5),
    extended: canvas(7, 5),
  };
  it.each(Object.entries(whole))('finds nothing in a %s header that is cut off anywhere', (_, bytes) => {
    expect(readImageHeader(bytes)).not.toBeNull();
    for (let length = 0; length < bytes.length; length++) expect(readImageHeader(bytes.subarray(0, length))).toBeNull();
  });

  it('does not read beyond its part of a shared buffer', () => {
    const shared = Buffer.concat([Buffer.alloc(3), png(7, 5), png(9, 9)]);
    expect(readImageHeader(shared.subarray(3))).toEqual({ type: 'image/png', width: 7, height: 5 });
    expect(readImageHeader(shared.subarray(3, 30))).toBeNull();
  });

  it('never throws and never finds an empty image for any bytes', () => {
    const start = constantFrom(...Object.values(whole), Buffer.alloc(0));
    assert(
      property(start, nat({ max: 40 }), uint8Array({ maxLength: 200 }), (image, kept, noise) => {
        const header = readImageHeader(Buffer.concat([image.subarray(0, kept), noise]));
        expect(header === null || (header.width > 0 && header.height > 0)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

it('gives each type its extension', () => {
  expect((['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const).map(extensionOf)).toEqual([
    'png',
    'jpg',
    'gif',
    'webp',
  ]);
});
