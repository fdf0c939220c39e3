import { Script } from 'node:vm';
import { crc32, deflateSync } from 'node:zlib';
import { assert, constantFrom, nat, property, uint8Array } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findForeignContent } from './foreign-content.ts';
import { detectImageType, extensionOf, findImageEnd, type ImageType, readImageHeader } from './image-type.ts';

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
  it.each(Object.entries(whole))('finds nothing in a %s header cut anywhere', (_, bytes) => {
    expect(readImageHeader(bytes)).not.toBeNull();
    for (let length = 0; length < bytes.length; length++) expect(readImageHeader(bytes.subarray(0, length))).toBeNull();
  });

  it('does not read beyond its part of a shared buffer', () => {
    const shared = Buffer.concat([Buffer.alloc(3), png(7, 5), png(9, 9)]);
    expect(readImageHeader(shared.subarray(3))).toEqual({ type: 'image/png', width: 7, height: 5 });
    expect(readImageHeader(shared.subarray(3, 30))).toBeNull();
  });

  it('never throws and never finds an empty image, whatever the bytes', () => {
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

const pngChunk = (name: string, content: Buffer): Buffer => {
  const named = Buffer.concat([ascii(name), content]);
  return Buffer.concat([uint32(content.length), named, uint32(crc32(named))]);
};
const wholePng = (...chunks: Buffer[]): Buffer =>
  Buffer.concat([
    png(1, 1, { depth: 8, color: 0 }),
    ...chunks,
    pngChunk('IDAT', deflateSync(Buffer.alloc(2))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);

/** A scan with restarts, a stuffed byte and a fill byte in front of a restart, which all belong to it. */
const scan = Buffer.concat([
  segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
  Buffer.from([0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56, 0xff, 0xff, 0xd1, 0x78]),
]);
const endOfImage = Buffer.from([0xff, 0xd9]);
const wholeJpeg = (...segments: Buffer[]): Buffer =>
  jpeg(...segments, app0, frame(1, 1, { components: 1 }), scan, endOfImage);

const webpChunks = Buffer.concat([lossless(1, 1).subarray(12), ascii('\0EXIF\x02\0\0\0ab')]);
const wholeWebp = Buffer.concat([ascii('RIFF'), uint32le(4 + webpChunks.length), ascii('WEBP'), webpChunks]);

const gifData = Buffer.from([2, 2, 0x44, 1, 0]);
const wholeGif = (...blocks: Buffer[]): Buffer => Buffer.concat([gif(1, 1, { blocks }), gifData, Buffer.from([0x3b])]);

describe('finding the end of an image', () => {
  it.each<[string, Buffer]>([
    ['a PNG', wholePng()],
    ['a PNG with a text that looks like an end', wholePng(pngChunk('tEXt', ascii('a\0\0\0\0\0IENDxxxx')))],
    ['a JPEG', wholeJpeg()],
    ['a JPEG with a preview inside', wholeJpeg(segment(0xe1, Buffer.concat([ascii('Exif\0\0'), wholeJpeg()])))],
    [
      'a JPEG of several scans with tables and fill bytes between',
      jpeg(
        frame(1, 1, { marker: 0xc2 }),
        segment(0xc4, Buffer.alloc(20)),
        scan,
        Buffer.from([0xff, 0xff]),
        segment(0xc4, Buffer.from([0xff, 0xd9])),
        scan,
        Buffer.from([0xff]),
        endOfImage,
      ),
    ],
    ['a GIF', wholeGif()],
    [
      'a GIF of two frames with palettes of their own and comments',
      Buffer.concat([
        wholeGif(gifComment).subarray(0, -1),
        gifComment,
        Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0x81]),
        Buffer.alloc(12, 0x3b),
        gifData,
        gifComment,
        Buffer.from([0x3b]),
      ]),
    ],
    ['a WebP', wholeWebp],
  ])('finds that of %s, wherever the file ends', (_, image) => {
    expect(findImageEnd(image)).toBe(image.length);
    for (const appendix of [image, Buffer.alloc(9), ascii('<html>')]) {
      expect(findImageEnd(Buffer.concat([image, appendix]))).toBe(image.length);
    }
    for (let length = 0; length < image.length; length++) expect(findImageEnd(image.subarray(0, length))).toBeNull();
  });

  it.each<[string, Buffer]>([
    ['something else', ascii('%PDF-1.7')],
    ['a PNG whose last chunk has content', Buffer.concat([wholePng().subarray(0, -12), pngChunk('IEND', ascii('a'))])],
    ['a JPEG with bytes between its segments', jpeg(frame(1, 1), ascii('abc'), scan, endOfImage)],
    ['a JPEG with a restart outside a scan', jpeg(frame(1, 1), Buffer.from([0xff, 0xd0]), scan, endOfImage)],
    ['a JPEG in a JPEG', jpeg(frame(1, 1), wholeJpeg())],
    ['a JPEG that starts twice', jpeg(frame(1, 1), segment(0xd8, Buffer.alloc(0)), scan, endOfImage)],
    ['a JPEG with a segment shorter than its length', jpeg(frame(1, 1), Buffer.from([0xff, 0xfe, 0, 1]), endOfImage)],
    ['a GIF with an unknown block', Buffer.concat([wholeGif().subarray(0, -1), Buffer.from([0x41, 0x3b])])],
  ])('finds none in %s', (_, bytes) => {
    expect(findImageEnd(bytes)).toBeNull();
  });

  it('never throws and never leaves the file, whatever the bytes', () => {
    const start = constantFrom(wholePng(), wholeJpeg(), wholeGif(), wholeWebp);
    assert(
      property(start, nat({ max: 120 }), uint8Array({ maxLength: 200 }), (image, kept, noise) => {
        const bytes = Buffer.concat([image.subarray(0, kept), noise]);
        expect(findImageEnd(bytes) ?? 0).toBeLessThanOrEqual(bytes.length);
        findForeignContent(bytes);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** An archive of one stored file (PKWARE APPNOTE, 4.3), whose offsets count from its own start as after `cat`. */
const zip = (content: Buffer, { comment = '' } = {}): Buffer => {
  const name = ascii('a.txt');
  const sizes = Buffer.concat([uint32le(crc32(content)), uint32le(content.length), uint32le(content.length)]);
  const common = Buffer.concat([uint16le(10), Buffer.alloc(8), sizes, uint16le(name.length), uint16le(0)]);
  const file = Buffer.concat([ascii('PK\x03\x04'), common, name, content]);
  const entry = Buffer.concat([ascii('PK\x01\x02'), uint16le(10), common, Buffer.alloc(14), name]);
  const counts = Buffer.concat([Buffer.alloc(4), uint16le(1), uint16le(1)]);
  const end = Buffer.concat([counts, uint32le(entry.length), uint32le(file.length), uint16le(comment.length)]);
  return Buffer.concat([file, entry, ascii('PK\x05\x06'), end, ascii(comment)]);
};

const script = 'alert("\\"")';
/** A JPEG that is a script: its name, a comment that spells the length of the first segment, an assignment, a comment. */
const scriptedJpeg = jpeg(
  segment(0xe0, Buffer.alloc(0x2f2a - 2)),
  segment(0xfe, ascii(`*/=${script}/*`)),
  frame(1, 1, { components: 1 }),
  scan,
  segment(0xfe, ascii('*///')),
  endOfImage,
);
/** A GIF that is a script, its width spelling the comment. */
const scriptedGif = Buffer.concat([
  ascii('GIF89a/*'),
  Buffer.from([1, 0, 0, 0, 0, 0x21, 0xfe, script.length + 5]),
  ascii(`*/=${script}/*`),
  Buffer.from([0]),
  Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0]),
  gifData,
  Buffer.from([0x21, 0xfe, 4]),
  ascii('*///'),
  Buffer.from([0, 0x3b]),
]);

const page = ascii(`<!DOCTYPE html><script>${script}</script>`);
const pdf = ascii('%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer<</Root 1 0 R>>\n%%EOF');
const program = Buffer.concat([ascii('MZ'), Buffer.alloc(62), ascii('PE\0\0')]);

const box = (name: string, content: Buffer): Buffer =>
  Buffer.concat([uint32(content.length + 8), ascii(name), content]);
const video = (media: Buffer = Buffer.alloc(40, 0xab)): Buffer =>
  Buffer.concat([
    box('ftyp', ascii('mp42\0\0\0\0isommp42')),
    box('moov', box('mvhd', Buffer.alloc(100))),
    Buffer.concat([uint32(1), ascii('mdat'), uint32(0), uint32(media.length + 16), media]),
    box('free', Buffer.alloc(0)),
  ]);

const multiPicture = (pictures: number, { isLittle = false } = {}): Buffer => {
  const [short, long] = isLittle ? [uint16le, uint32le] : [uint16, uint32];
  const entry = (tag: number, type: number, value: number) =>
    Buffer.concat([short(tag), short(type), long(1), long(value)]);
  const entries = [entry(0xb000, 7, 0), entry(0xb001, 4, pictures)];
  const tiff = isLittle ? ascii('II*\0') : ascii('MM\0*');
  return segment(0xe2, Buffer.concat([ascii('MPF\0'), tiff, long(8), short(2), ...entries, long(0)]));
};
const xmp = (content: string): Buffer => segment(0xe1, ascii(`http://ns.adobe.com/xap/1.0/\0${content}`));
const item = (mime: string): string => `<Container:Item Item:Mime="${mime}" Item:Length="1"/>`;
const motionPhoto = xmp('<rdf:Description GCamera:MotionPhoto="1"/>');

/** Samsung's trailer around named blocks. */
const samsung = (...blocks: [number, string, Buffer][]): Buffer => {
  const data = blocks.map(([type, name, content]) =>
    Buffer.concat([uint16le(0), uint16le(type), uint32le(name.length), ascii(name), content]),
  );
  let distance = Buffer.concat(data).length;
  const entries = data.map((block, index) => {
    const entry = [uint16le(0), uint16le(blocks[index]?.[0] ?? 0), uint32le(distance), uint32le(block.length)];
    distance -= block.length;
    return Buffer.concat(entry);
  });
  const directory = Buffer.concat([ascii('SEFH'), uint32le(106), uint32le(blocks.length), ...entries]);
  return Buffer.concat([...data, directory, uint32le(directory.length), ascii('SEFT')]);
};
const time: [number, string, Buffer] = [0x0a01, 'Image_UTC_Data', ascii('1608199394872')];
const pixelRecord = (name: string, length: number): Buffer =>
  Buffer.concat([ascii(name), Buffer.from([0x80 | (length & 0x7f), length >> 7]), Buffer.alloc(length, 7)]);

describe('finding what an image is besides', () => {
  it.each<[string, string, Buffer]>([
    ['a PNG and an archive', 'a ZIP archive', Buffer.concat([wholePng(), zip(ascii('hello'))])],
    ['a JPEG and an archive', 'a ZIP archive', Buffer.concat([wholeJpeg(), zip(ascii('hello'))])],
    ['a GIF and an archive', 'a ZIP archive', Buffer.concat([wholeGif(), zip(ascii('hello'))])],
    ['a WebP and an archive', 'a ZIP archive', Buffer.concat([wholeWebp, zip(ascii('hello'))])],
    [
      'an archive and more behind it',
      'a ZIP archive',
      Buffer.concat([wholePng(), zip(ascii('hello')), Buffer.alloc(9, 1)]),
    ],
    ['an empty archive', 'a ZIP archive', Buffer.concat([wholePng(), ascii('PK\x05\x06'), Buffer.alloc(18)])],
    ['the start of an archive', 'an archive', Buffer.concat([wholePng(), zip(ascii('hello')).subarray(0, 40)])],
    ['an archive within a comment', 'a ZIP archive', wholeJpeg(segment(0xfe, zip(ascii('hello'))))],
    [
      'an archive whose comment is the image behind it',
      'a ZIP archive',
      wholePng(pngChunk('teSt', zip(ascii('hello'), { comment: 'x'.repeat(84) }).subarray(0, -84))),
    ],
    [
      'an archive within the video of a photo',
      'a ZIP archive',
      Buffer.concat([wholeJpeg(motionPhoto), video(zip(ascii('hello')))]),
    ],
    [
      'an archive around a trailer of Samsung’s',
      'a ZIP archive',
      Buffer.concat([
        wholeJpeg(),
        samsung([0x0a01, 'x', zip(ascii('hello'), { comment: ' '.repeat(48) }).subarray(0, -48)]),
      ]),
    ],
    ['a RAR archive', 'a RAR archive', Buffer.concat([wholePng(), ascii('Rar!\x1a\x07\x01\0')])],
    ['a 7z archive in a chunk', 'a 7z archive', wholePng(pngChunk('teSt', ascii('7z\xbc\xaf\x27\x1c\0\x04')))],
    [
      'a tar archive',
      'a tar archive',
      wholeJpeg(segment(0xfe, Buffer.concat([Buffer.alloc(257 - 6), ascii('ustar\0')]))),
    ],
    [
      'a disc image',
      'a disc image',
      wholeJpeg(segment(0xfe, Buffer.concat([Buffer.alloc(32_769 - 6), ascii('CD001\x01')]))),
    ],
    ['a document in a comment of a JPEG', 'a PDF document', wholeJpeg(segment(0xfe, pdf))],
    ['a document in an application’s segment', 'a PDF document', wholeJpeg(segment(0xed, pdf))],
    ['a document in a text of a PNG', 'a PDF document', wholePng(pngChunk('tEXt', Buffer.concat([ascii('a\0'), pdf])))],
    [
      'a document in a comment of a GIF',
      'a PDF document',
      wholeGif(Buffer.from([0x21, 0xfe, 9]), ascii('%PDF-1.7\n\0')),
    ],
    [
      'a document at the last byte where one may start',
      'a PDF document',
      wholeJpeg(segment(0xfe, Buffer.concat([Buffer.alloc(1_023 - 6), pdf]))),
    ],
    ['a page behind a JPEG', 'a web page or script', Buffer.concat([wholeJpeg(), page])],
    ['a page behind a PNG', 'a web page or script', Buffer.concat([wholePng(), page])],
    ['a tag behind a WebP', 'a web page or script', Buffer.concat([wholeWebp, ascii('<b>x</b>')])],
    ['a script of a page in a comment', 'a web page or script', wholeJpeg(segment(0xfe, ascii('<SCRIPT src=x>')))],
    ['PHP in a text of a PNG', 'a web page or script', wholePng(pngChunk('tEXt', ascii('a\0<?php system($_GET[0]);')))],
    ['PHP behind an image', 'a web page or script', Buffer.concat([wholeJpeg(), ascii('<?= `id` ?>')])],
    [
      'a phar',
      'a web page or script',
      Buffer.concat([wholeJpeg(segment(0xfe, ascii('__HALT_COMPILER(); ?>\r\n'))), Buffer.alloc(10)]),
    ],
    ['a script that is a JPEG', 'a web page or script', scriptedJpeg],
    ['a script that is a GIF', 'a web page or script', scriptedGif],
    ['a program', 'a program', Buffer.concat([wholePng(), program])],
    ['a program behind a JPEG', 'a program', Buffer.concat([wholeJpeg(), ascii('\x7fELF\x02\x01\x01')])],
    ['commands', 'a program', Buffer.concat([wholeGif(), ascii('#!/bin/sh\nid\n')])],
    ['a second PNG', 'another picture', Buffer.concat([wholePng(), wholePng()])],
    ['a second JPEG', 'another picture', Buffer.concat([wholeJpeg(), wholeJpeg()])],
    ['a PNG behind a JPEG', 'another picture', Buffer.concat([wholeJpeg(), wholePng()])],
    ['anything', 'other data behind its end', Buffer.concat([wholePng(), ascii('anything')])],
    ['a single byte', 'other data behind its end', Buffer.concat([wholeJpeg(), ascii('\n')])],
    ['something behind zeros', 'other data behind its end', Buffer.concat([wholeJpeg(), Buffer.alloc(99), ascii('x')])],
  ])('names what makes two of one: %s', (_, found, bytes) => {
    expect(findImageEnd(bytes)).not.toBeNull();
    expect(findForeignContent(bytes)).toBe(found);
  });

  it('tests with scripts that a browser would run', () => {
    for (const image of [scriptedJpeg, scriptedGif]) expect(() => new Script(image.toString('latin1'))).not.toThrow();
  });

  const announced = wholeJpeg(multiPicture(2));
  it.each<[string, Buffer]>([
    ['a PNG', wholePng()],
    ['a JPEG', wholeJpeg()],
    ['a GIF', wholeGif()],
    ['a WebP', wholeWebp],
    ['a PNG filled up with zeros', Buffer.concat([wholePng(), Buffer.alloc(3)])],
    ['a JPEG filled up with zeros', Buffer.concat([wholeJpeg(), Buffer.alloc(512)])],
    ['a photo with its gain map', Buffer.concat([announced, wholeJpeg()])],
    ['a photo with its gain map some zeros on', Buffer.concat([announced, Buffer.alloc(30), wholeJpeg()])],
    [
      'a photo whose index is little-endian',
      Buffer.concat([wholeJpeg(multiPicture(2, { isLittle: true })), wholeJpeg()]),
    ],
    ['a photo with two pictures more', Buffer.concat([wholeJpeg(multiPicture(3)), wholeJpeg(), wholeJpeg()])],
    [
      'a photo with a depth map that XMP announces',
      Buffer.concat([wholeJpeg(xmp(item('image/jpeg') + item('image/jpeg'))), wholeJpeg()]),
    ],
    ['a motion photo', Buffer.concat([wholeJpeg(motionPhoto), video()])],
    [
      'a motion photo of the older kind',
      Buffer.concat([wholeJpeg(xmp('<GCamera:MicroVideo>1</GCamera:MicroVideo>')), video()]),
    ],
    [
      'a motion photo with its gain map',
      Buffer.concat([
        wholeJpeg(multiPicture(2), xmp(item('image/jpeg') + item('image/jpeg') + item('video/mp4'))),
        wholeJpeg(),
        video(),
      ]),
    ],
    [
      'a motion photo of a Pixel with records of its camera',
      Buffer.concat([wholeJpeg(motionPhoto), pixelRecord('aecDebug', 7_738), pixelRecord('afDebug', 128), video()]),
    ],
    ['a Samsung photo', Buffer.concat([wholeJpeg(), samsung(time)])],
    ['a Samsung motion photo', Buffer.concat([wholeJpeg(), samsung(time, [0x0a30, 'MotionPhoto_Data', video()])])],
    ['a Samsung photo with its gain map', Buffer.concat([announced, wholeJpeg(), samsung(time), Buffer.alloc(2)])],
    [
      'settings of a printer',
      wholeJpeg(segment(0xed, ascii('<!DOCTYPE plist PUBLIC "-//Apple Computer//DTD PLIST 1.0//EN"'))),
    ],
    ['the name of a document further on', wholeJpeg(segment(0xfe, Buffer.concat([Buffer.alloc(1_024 - 6), pdf])))],
    ['the end of an archive that is none', wholeJpeg(segment(0xfe, ascii(`PK\x05\x06${'\x01'.repeat(40)}`)))],
    [
      'a JPEG whose first length spells a comment',
      jpeg(segment(0xe1, Buffer.alloc(0x2f2a - 2)), segment(0xfe, ascii('*/')), frame(1, 1), scan, endOfImage),
    ],
  ])('finds nothing in %s', (_, bytes) => {
    expect(findImageEnd(bytes)).not.toBeNull();
    expect(findForeignContent(bytes)).toBeNull();
  });

  it.each<[string, string, Buffer]>([
    ['more pictures than announced', 'another picture', Buffer.concat([announced, wholeJpeg(), wholeJpeg()])],
    ['a picture that is cut off', 'another picture', Buffer.concat([announced, wholeJpeg().subarray(0, -1)])],
    ['an index without a count', 'another picture', Buffer.concat([wholeJpeg(multiPicture(1)), wholeJpeg()])],
    [
      'an index that points nowhere',
      'another picture',
      Buffer.concat([wholeJpeg(segment(0xe2, ascii('MPF\0MM\0*\xff\xff\xff\xff'))), wholeJpeg()]),
    ],
    ['a video nobody announced', 'other data behind its end', Buffer.concat([wholeJpeg(), video()])],
    [
      'a video that says to be longer',
      'other data behind its end',
      Buffer.concat([wholeJpeg(motionPhoto), video().subarray(0, -9)]),
    ],
    [
      'a video without a movie',
      'other data behind its end',
      Buffer.concat([wholeJpeg(motionPhoto), box('ftyp', ascii('mp42')), box('mdat', Buffer.alloc(9))]),
    ],
    ['a video with a program behind', 'a program', Buffer.concat([wholeJpeg(motionPhoto), video(), program])],
    ['a gain map with a page behind', 'a web page or script', Buffer.concat([announced, wholeJpeg(), page])],
    ['a trailer with a program in front', 'a program', Buffer.concat([wholeJpeg(), program, samsung(time)])],
    ['a trailer with a program behind', 'a program', Buffer.concat([wholeJpeg(), samsung(time), program])],
    [
      'a trailer of more blocks than it holds',
      'other data behind its end',
      Buffer.concat([wholeJpeg(), ascii('SEFH\x6a\0\0\0\xff\xff\xff\xff'), uint32le(12), ascii('SEFT')]),
    ],
    [
      'a trailer whose directory is cut off',
      'other data behind its end',
      Buffer.concat([wholeJpeg(), samsung(time).subarray(0, -21), samsung(time).subarray(-8)]),
    ],
    [
      'a record of a Pixel that says to be longer',
      'other data behind its end',
      Buffer.concat([wholeJpeg(), pixelRecord('awbDebug', 200).subarray(0, -1)]),
    ],
    ['a trailer behind a PNG', 'other data behind its end', Buffer.concat([wholePng(), samsung(time)])],
  ])('takes nothing for the work of a phone that is not: %s', (_, found, bytes) => {
    expect(findForeignContent(bytes)).toBe(found);
  });

  it.each<[string, string | null, Buffer, Buffer]>([
    ['records', 'other data behind its end', wholeJpeg(), pixelRecord('afDebug', 0)],
    ['pictures', 'other data behind its end', wholeJpeg(multiPicture(2 ** 31)), jpeg(endOfImage)],
    [
      'videos',
      'other data behind its end',
      wholeJpeg(motionPhoto),
      Buffer.concat([box('ftyp', Buffer.alloc(0)), box('moov', Buffer.alloc(0))]),
    ],
    ['starts of tags', 'a web page or script', wholeJpeg(), ascii('<script<!doctype ')],
    ['ends of archives', 'an archive', wholeJpeg(), ascii('PK\x05\x06')],
    ['fill bytes', null, wholeJpeg().subarray(0, -2), Buffer.from([0xff])],
    ['strings', 'other data behind its end', wholeJpeg(), ascii("'\\'")],
  ])('is not kept busy by a file full of %s', (_, found, image, part) => {
    const bytes = Buffer.concat([image, Buffer.alloc(5 * 1_024 * 1_024, part), ascii('x')]);
    expect(findForeignContent(bytes)).toBe(found);
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
