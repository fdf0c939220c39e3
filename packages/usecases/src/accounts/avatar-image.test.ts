import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { openSandbox, type SandboxLimits } from '@portal/platform/sandbox/open-sandbox';
import { childProcesses } from '@portal/testing/child-processes';
import { openAvatarImages } from './avatar-image.ts';

const sandbox = openSandbox({ queueLimit: 100 });
afterAll(() => sandbox.close());
const owner = { tenantId: 'a', ownerId: 'anna' };
const fromUpload = (upload: Uint8Array) => openAvatarImages(sandbox).fromUpload(upload, owner);

const red = { r: 255, g: 0, b: 0 };
const plain = (
  width: number,
  height: number,
  background: string | { r: number; g: number; b: number; alpha: number } = '#ff0000',
): Sharp =>
  sharp({
    create: { width, height, channels: typeof background === 'string' ? 3 : 4, background },
    limitInputPixels: false,
  });
/** Returns the same noise every time, because the result for a damaged picture depends on its exact bits. */
function noise(width: number, height: number): Sharp {
  const channels = 3;
  const pixels = Buffer.alloc(width * height * channels);
  let state = 1;
  for (let at = 0; at < pixels.length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    pixels[at] = state >>> 24;
  }
  return sharp(pixels, { raw: { width, height, channels } });
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const pngChunk = (name: string, content: Buffer): Buffer => {
  const named = Buffer.concat([Buffer.from(name), content]);
  return Buffer.concat([uint32(content.length), named, uint32(crc32(named))]);
};
const pngHeader = (width: number, height: number): Buffer =>
  Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', Buffer.concat([uint32(width), uint32(height), Buffer.from([8, 2, 0, 0, 0])])),
  ]);
/** A PNG with extra chunks after its header. */
const withPngChunks = (png: Buffer, ...chunks: Buffer[]): Buffer =>
  Buffer.concat([png.subarray(0, 33), ...chunks, png.subarray(33)]);
const withoutPngChunk = (png: Buffer, name: string): Buffer => {
  const at = png.indexOf(name) - 4;
  return Buffer.concat([png.subarray(0, at), png.subarray(at + 12 + png.readUInt32BE(at))]);
};
const zeros = (megabytes: number): Buffer => deflateSync(Buffer.alloc(megabytes * 1_000_000), { level: 9 });

const startOfScan = Buffer.from([0xff, 0xda]);
const jpegSegment = (marker: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 0xff]), content]);
/** A JPEG with extra segments at its start. */
const withJpegSegments = (jpeg: Buffer, ...segments: Buffer[]): Buffer =>
  Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);

const pixels = async (avatar: Uint8Array) => {
  const { data, info } = await sharp(avatar).raw().toBuffer({ resolveWithObject: true });
  return (x: number, y: number): number[] => [
    ...data.subarray((y * info.width + x) * info.channels, (y * info.width + x + 1) * info.channels),
  ];
};
const isNear = (color: number[], expected: number[], tolerance = 12): boolean =>
  expected.every((value, index) => Math.abs(value - (color[index] ?? Number.NaN)) <= tolerance);

const refused = expect.objectContaining({ kind: 'invalid', code: 'UNSUPPORTED_IMAGE' });

describe('an avatar', () => {
  it.each<[string, () => Promise<Buffer>, number]>([
    ['a photo', () => noise(1_600, 1_200).jpeg().toBuffer(), 512],
    ['a progressive photo', () => noise(600, 900).jpeg({ progressive: true }).toBuffer(), 512],
    ['a gray photo', () => noise(600, 600).grayscale().jpeg().toBuffer(), 512],
    ['a photo for print', () => plain(600, 600).toColourspace('cmyk').jpeg().toBuffer(), 512],
    ['a drawing', () => plain(600, 600).png({ palette: true }).toBuffer(), 512],
    ['an interlaced drawing', () => noise(600, 600).png({ progressive: true }).toBuffer(), 512],
    ['a drawing of 16 bits', () => plain(600, 600).toColourspace('rgb16').png().toBuffer(), 512],
    ['a WebP', () => noise(600, 600).webp().toBuffer(), 512],
    ['a lossless WebP', () => noise(600, 600).webp({ lossless: true }).toBuffer(), 512],
    ['a picture smaller than an avatar', () => noise(300, 200).png().toBuffer(), 200],
    ['a single pixel', () => plain(1, 1).png().toBuffer(), 1],
    ['a line', () => plain(12_000, 1).jpeg().toBuffer(), 1],
    ['the largest picture', () => plain(5_000, 5_000).jpeg().toBuffer(), 512],
  ])('is made from %s as a square WebP', async (_, make, side) => {
    const avatar = await fromUpload(await make());
    expect(await sharp(avatar).metadata()).toMatchObject({
      format: 'webp',
      width: side,
      height: side,
      space: 'srgb',
      depth: 'uchar',
    });
  });

  it('shows the middle of the picture', async () => {
    const middle = await plain(200, 200, '#0000ff').png().toBuffer();
    const at = await pixels(
      await fromUpload(
        await plain(600, 200)
          .composite([{ input: middle }])
          .png()
          .toBuffer(),
      ),
    );
    for (const [x, y] of [
      [3, 3],
      [196, 3],
      [3, 196],
      [196, 196],
    ] as const)
      expect(at(x, y)).toSatisfy((color: number[]) => isNear(color, [0, 0, 255]));
  });

  it('stays transparent where the picture was', async () => {
    const at = await pixels(
      await fromUpload(
        await plain(50, 50, { ...red, alpha: 0.5 })
          .png()
          .toBuffer(),
      ),
    );
    expect(at(25, 25)).toSatisfy((color: number[]) => isNear(color, [255, 0, 0, 128]));
  });

  // Displayed positions of the stored top left, top right, bottom left and bottom right corners (EXIF 2.32, tag 274).
  const [a, b, c, d] = ['#ff0000', '#00ff00', '#0000ff', '#ffffff'];
  it.each([
    [1, [a, b, c, d]],
    [2, [b, a, d, c]],
    [3, [d, c, b, a]],
    [4, [c, d, a, b]],
    [5, [a, c, b, d]],
    [6, [c, a, d, b]],
    [7, [d, b, c, a]],
    [8, [b, d, a, c]],
  ])('is upright for the camera orientation %i', async (orientation, corners) => {
    const quarter = async (color: string | undefined, left: number, top: number) => ({
      input: await plain(100, 100, color).png().toBuffer(),
      left,
      top,
    });
    const upload = await plain(200, 200)
      .composite([
        await quarter(a, 0, 0),
        await quarter(b, 100, 0),
        await quarter(c, 0, 100),
        await quarter(d, 100, 100),
      ])
      .withMetadata({ orientation })
      .jpeg({ chromaSubsampling: '4:4:4' })
      .toBuffer();
    const at = await pixels(await fromUpload(upload));
    const shown = [at(50, 50), at(150, 50), at(50, 150), at(150, 150)];
    for (const [index, corner] of corners.entries()) {
      const [, r = '', g = '', blue = ''] = /#(..)(..)(..)/.exec(corner ?? '') ?? [];
      expect(shown[index]).toSatisfy((color: number[]) =>
        isNear(
          color,
          [r, g, blue].map((hex) => Number.parseInt(hex, 16)),
        ),
      );
    }
  });

  it('shows the colors of a wide gamut as sRGB', async () => {
    const upload = await plain(100, 100).withIccProfile('p3').png().toBuffer();
    const unmarked = await sharp(withoutPngChunk(upload, 'iCCP')).raw().toBuffer();
    expect([...unmarked.subarray(0, 3)]).toSatisfy((color: number[]) => isNear(color, [234, 51, 35]));
    expect((await pixels(await fromUpload(upload)))(50, 50)).toSatisfy((color: number[]) => isNear(color, [255, 0, 0]));
  });

  it('shows the first picture of an animation', async () => {
    const frames = await Promise.all(['#ff0000', '#0000ff'].map((color) => plain(100, 100, color).png().toBuffer()));
    const upload = await sharp(frames, { join: { animated: true } })
      .webp()
      .toBuffer();
    expect((await sharp(upload).metadata()).pages).toBe(2);
    const avatar = await fromUpload(upload);
    expect((await sharp(avatar).metadata()).pages ?? 1).toBe(1);
    expect((await pixels(avatar))(50, 50)).toSatisfy((color: number[]) => isNear(color, [255, 0, 0]));
  });
});

/** A lossless WebP of one color, a few bytes at any size, because 28 bits of its header hold the size. */
const plainWebp = async (width: number, height: number): Promise<Buffer> => {
  const webp = await plain(64, 64).webp({ lossless: true }).toBuffer();
  webp.writeUInt32LE((webp.readUInt32LE(21) & ~0xfffffff) + (width - 1) + (height - 1) * 2 ** 14, 21);
  return webp;
};

/** The chunks of a WebP; throws if the file contains anything else. */
const webpChunks = (webp: Uint8Array): string[] => {
  const file = Buffer.from(webp);
  if (file.readUInt32LE(4) + 8 !== file.length) throw new Error('bytes behind the end');
  const names: string[] = [];
  for (let at = 12; at < file.length; at += 8 + file.readUInt32LE(at + 4) + (file.readUInt32LE(at + 4) % 2))
    names.push(file.toString('latin1', at, at + 4));
  return names;
};

describe('metadata of a picture', () => {
  const hidden = 'Anna Schmidt, Lindenweg 4, Berlin';
  const where = {
    IFD0: { Copyright: hidden, Artist: hidden },
    IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '52/1 31/1 0/1' },
  };
  const xmp = `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><!--${hidden}--></x:xmpmeta><?xpacket end="w"?>`;
  const tagged = () => plain(64, 64).withExif(where).withXmp(xmp).withIccProfile('p3').withMetadata({ density: 300 });

  it.each<[string, () => Promise<Buffer>]>([
    ['a JPEG with place, author, description and profile', () => tagged().jpeg().toBuffer()],
    ['a PNG with place, author, description and profile', () => tagged().png().toBuffer()],
    ['a WebP with place, author, description and profile', () => tagged().webp().toBuffer()],
    [
      'a JPEG with comments',
      async () =>
        withJpegSegments(
          await plain(64, 64).jpeg().toBuffer(),
          jpegSegment(0xfe, Buffer.from(hidden)),
          jpegSegment(0xef, Buffer.from(hidden)),
        ),
    ],
    [
      'a PNG with text',
      async () =>
        withPngChunks(
          await plain(64, 64).png().toBuffer(),
          pngChunk('tEXt', Buffer.from(`Comment\0${hidden}`)),
          pngChunk('prVt', Buffer.from(hidden)),
        ),
    ],
  ])('is dropped: %s', async (_, make) => {
    const upload = await make();
    expect(upload.includes(hidden)).toBe(true);
    const avatar = await fromUpload(upload);
    expect(webpChunks(avatar)).toEqual(['VP8 ']);
    expect(Buffer.from(avatar).includes('Lindenweg')).toBe(false);
    expect(await sharp(avatar).metadata()).not.toMatchObject({ exif: expect.anything() });
  });

  it('is dropped if transparency needs a container', async () => {
    const avatar = await fromUpload(
      await plain(64, 64, { ...red, alpha: 0.5 })
        .withExif(where)
        .withXmp(xmp)
        .png()
        .toBuffer(),
    );
    expect(webpChunks(avatar)).toEqual(['VP8X', 'ALPH', 'VP8 ']);
    expect(await sharp(avatar).metadata()).toMatchObject({ hasAlpha: true, hasProfile: false });
  });
});

const uint16le = (value: number): Buffer => Buffer.from([value & 0xff, value >> 8]);
const uint32le = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

/** The boxes of an MP4 without a track. */
const video = (media: Buffer): Buffer =>
  Buffer.concat(
    [
      ['ftyp', Buffer.from('mp42\0\0\0\0isommp42')] as const,
      ['moov', Buffer.alloc(100)] as const,
      ['mdat', media] as const,
    ].map(([name, content]) => Buffer.concat([uint32(content.length + 8), Buffer.from(name), content])),
  );

/** An index of two pictures (CIPA DC-007, 5.2.3). */
const multiPicture = jpegSegment(
  0xe2,
  Buffer.from('MPF\0MM\0*\0\0\0\x08\0\x01\xb0\x01\0\x04\0\0\0\x01\0\0\0\x02\0\0\0\0', 'latin1'),
);
const motionPhoto = jpegSegment(
  0xe1,
  Buffer.from(
    'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">' +
      '<rdf:Description xmlns:GCamera="http://ns.google.com/photos/1.0/camera/" GCamera:MotionPhoto="1"/></rdf:RDF></x:xmpmeta>',
  ),
);
const samsungBlock = Buffer.from('\0\0\x01\x0a\x0e\0\0\0Image_UTC_Data1608199394872');
const samsungTrailer = Buffer.concat([
  samsungBlock,
  Buffer.from('SEFH\x6a\0\0\0\x01\0\0\0\0\0\x01\x0a'),
  uint32le(samsungBlock.length),
  uint32le(samsungBlock.length),
  uint32le(24),
  Buffer.from('SEFT'),
]);

describe('data that phones append to a photo', () => {
  it.each<[string, Buffer[], () => Promise<Buffer>]>([
    ['a gain map', [multiPicture], () => plain(16, 16).grayscale().jpeg().toBuffer()],
    ['a video', [motionPhoto], async () => video(Buffer.alloc(20_000, 0xab))],
    ['a note of Samsung’s', [], async () => samsungTrailer],
    [
      'all of it',
      [multiPicture, motionPhoto],
      async () =>
        Buffer.concat([
          await plain(16, 16).grayscale().jpeg().toBuffer(),
          Buffer.alloc(6),
          video(Buffer.alloc(20_000, 0xab)),
          samsungTrailer,
        ]),
    ],
    ['zeros', [], async () => Buffer.alloc(4_096)],
  ])('is dropped: %s', async (_, segments, append) => {
    const photo = withJpegSegments(await plain(64, 64, '#ff0000').jpeg().toBuffer(), ...segments);
    const avatar = await fromUpload(Buffer.concat([photo, await append()]));
    expect(webpChunks(avatar)).toEqual(['VP8 ']);
    expect((await pixels(avatar))(32, 32)).toSatisfy((color: number[]) => isNear(color, [255, 0, 0]));
  });
});

/** An archive with one stored file. ZIP readers open it at any position in a file. */
const zip = (content: Buffer): Buffer => {
  const name = Buffer.from('page.html');
  const sizes = Buffer.concat([uint32le(crc32(content)), uint32le(content.length), uint32le(content.length)]);
  const common = Buffer.concat([uint16le(10), Buffer.alloc(8), sizes, uint16le(name.length), uint16le(0)]);
  const file = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, content]);
  const entry = Buffer.concat([Buffer.from('PK\x01\x02'), uint16le(10), common, Buffer.alloc(14), name]);
  const counts = Buffer.concat([Buffer.alloc(4), uint16le(1), uint16le(1)]);
  const offsets = Buffer.concat([uint32le(entry.length), uint32le(file.length), uint16le(0)]);
  return Buffer.concat([file, entry, Buffer.from('PK\x05\x06'), counts, offsets]);
};

describe('a second file in the same file', () => {
  const jpeg = () => plain(64, 64).jpeg().toBuffer();
  const png = () => plain(64, 64).png().toBuffer();
  const page = Buffer.from('<!doctype html><script>alert(document.cookie)</script>');

  it.each<[string, () => Promise<Buffer>]>([
    ['an archive', async () => Buffer.concat([await jpeg(), zip(Buffer.from('hello'))])],
    ['a page', async () => Buffer.concat([await png(), page])],
    [
      'a page in its text',
      async () => withPngChunks(await png(), pngChunk('tEXt', Buffer.concat([Buffer.from('Comment\0'), page]))),
    ],
    ['a script', async () => withJpegSegments(await jpeg(), jpegSegment(0xfe, Buffer.from('*/=alert(1)/*')))],
    ['another picture', async () => Buffer.concat([await png(), await png()])],
  ])('is dropped: %s', async (_, make) => {
    const avatar = await fromUpload(await make());
    expect(webpChunks(avatar)).toEqual(['VP8 ']);
    expect(Buffer.from(avatar).toString('latin1')).not.toMatch(/alert|hello/);
  });
});

describe('the upload is refused:', () => {
  it.each<[string, () => Promise<Buffer> | Buffer]>([
    ['nothing', () => Buffer.alloc(0)],
    ['text', () => Buffer.from('a picture, honestly')],
    ['a page', () => Buffer.from('<!doctype html><title>x</title>')],
    ['a GIF', () => noise(64, 64).gif().toBuffer()],
    ['a TIFF', () => noise(64, 64).tiff().toBuffer()],
    ['an AVIF', () => noise(64, 64).avif().toBuffer()],
    [
      'a vector drawing',
      () =>
        Buffer.from(
          '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="file:///etc/passwd"/></svg>',
        ),
    ],
    [
      'a vector drawing behind the header of a PNG',
      () =>
        Buffer.concat([pngHeader(9, 9), Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')]),
    ],
    ['a header alone', () => pngHeader(9, 9)],
    [
      'a PNG with a broken checksum',
      async () => {
        const png = await noise(64, 64).png().toBuffer();
        png.writeUInt8(png.readUInt8(png.length - 14) ^ 1, png.length - 14);
        return png;
      },
    ],
    [
      'a PNG without enough pixels',
      () =>
        Buffer.concat([
          pngHeader(64, 64),
          pngChunk('IDAT', deflateSync(Buffer.alloc(100))),
          pngChunk('IEND', Buffer.alloc(0)),
        ]),
    ],
    [
      'a JPEG without tables',
      async () => {
        const jpeg = await noise(64, 64).jpeg().toBuffer();
        return Buffer.concat([jpeg.subarray(0, 2), jpeg.subarray(jpeg.indexOf(Buffer.from([0xff, 0xc0])))]);
      },
    ],
    [
      'a JPEG whose scan holds a code that no table can have',
      async () => {
        const jpeg = await noise(64, 64).jpeg().toBuffer();
        const from = jpeg.indexOf(startOfScan) + 14;
        // ITU-T T.81, C.2: a code of ones alone is reserved.
        return Buffer.concat([jpeg.subarray(0, from), Buffer.from('ff00'.repeat(1_000), 'hex'), jpeg.subarray(-2)]);
      },
    ],
    [
      'an extended WebP without a picture',
      () =>
        Buffer.concat([
          Buffer.from('RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0', 'latin1'),
          Buffer.alloc(4),
          Buffer.from([9, 0, 0, 9, 0, 0]),
        ]),
    ],
  ])('%s', async (_, make) => {
    await expect(fromUpload(await make())).rejects.toEqual(refused);
  });

  it.each<[string, () => Promise<Buffer>]>([
    ['JPEG', () => noise(300, 300).jpeg().toBuffer()],
    ['progressive JPEG', () => noise(300, 300).jpeg({ progressive: true }).toBuffer()],
    ['PNG', () => noise(300, 300).png().toBuffer()],
    ['interlaced PNG', () => noise(300, 300).png({ progressive: true }).toBuffer()],
    ['WebP', () => noise(300, 300).webp().toBuffer()],
    ['lossless WebP', () => noise(300, 300).webp({ lossless: true }).toBuffer()],
  ])('a %s cut off anywhere', async (_, make) => {
    const whole = await make();
    for (const share of [0.001, 0.1, 0.5, 0.99]) {
      await expect(fromUpload(whole.subarray(0, Math.floor(whole.length * share)))).rejects.toEqual(refused);
    }
  });

  it.each<[string, () => Promise<Buffer> | Buffer]>([
    [
      'a PNG',
      () => Buffer.concat([pngHeader(30_000, 30_000), pngChunk('IDAT', zeros(100)), pngChunk('IEND', Buffer.alloc(0))]),
    ],
    [
      'a JPEG',
      async () => {
        const jpeg = await plain(64, 64).jpeg().toBuffer();
        jpeg.writeUInt16BE(30_000, jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 5);
        jpeg.writeUInt16BE(30_000, jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 7);
        return jpeg;
      },
    ],
    ['a WebP of 16,383 pixels a side, its maximum', () => plainWebp(16_383, 16_383)],
    ['a line of 25,000,000 pixels', () => pngHeader(25_000_000, 1)],
  ])('a picture of too many pixels: %s', async (_, make) => {
    await expect(fromUpload(await make())).rejects.toMatchObject({
      code: 'UNSUPPORTED_IMAGE',
      message: expect.stringContaining('at most 25 megapixels'),
    });
  });

  it('a WebP with a larger frame than its header says', async () => {
    const frame = (await plainWebp(16_383, 16_383)).subarray(12);
    const header = Buffer.concat([
      Buffer.from('RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0', 'latin1'),
      Buffer.alloc(4),
      Buffer.from([9, 0, 0, 9, 0, 0]),
    ]);
    const liar = Buffer.concat([header, frame]);
    liar.writeUInt32LE(liar.length - 8, 4);
    await expect(fromUpload(liar)).rejects.toEqual(refused);
  });
});

describe('a decoder', () => {
  const manyZeros = zeros(200);
  const manyTexts = zeros(7);
  it.each<[string, Buffer[]]>([
    ['a text', [pngChunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), manyZeros]))]],
    ['a color profile', [pngChunk('iCCP', Buffer.concat([Buffer.from('x\0\0'), manyZeros]))]],
    [
      'texts',
      Array.from({ length: 100 }, (_, n) => pngChunk('zTXt', Buffer.concat([Buffer.from(`k${n}\0\0`), manyTexts]))),
    ],
  ])('survives %s that unpacks to hundreds of megabytes', async (_, chunks) => {
    const avatar = await fromUpload(withPngChunks(await plain(64, 64).png().toBuffer(), ...chunks));
    expect(webpChunks(avatar)).toEqual(['VP8 ']);
  });

  it('is not kept busy by a JPEG with very many scans', async () => {
    const jpeg = await plain(64, 64).jpeg({ progressive: true }).toBuffer();
    const scans = Array<Buffer>(100).fill(jpegSegment(0xda, Buffer.from([1, 1, 0, 1, 63, 0])));
    await expect(fromUpload(Buffer.concat([jpeg.subarray(0, -2), ...scans, jpeg.subarray(-2)]))).rejects.toMatchObject({
      code: 'UNSUPPORTED_IMAGE',
      message: 'This JPEG has too many scans.',
    });
  });

  it('accepts the selfies of phones that leave a field of their only scan empty', async () => {
    const jpeg = await noise(64, 64).jpeg().toBuffer();
    jpeg.writeUInt8(0, jpeg.indexOf(startOfScan) + 2 + 10);
    await expect(sharp(jpeg).stats()).rejects.toThrow('Invalid SOS parameters');
    expect(webpChunks(await fromUpload(jpeg))).toEqual(['VP8 ']);
  });

  it('is stopped if it takes too long', async () => {
    await expect(
      openAvatarImages(sandbox, 1).fromUpload(await noise(600, 600).jpeg().toBuffer(), owner),
    ).rejects.toMatchObject({
      code: 'UNSUPPORTED_IMAGE',
      message: 'This image takes too long to read. Please choose another.',
    });
  });

  it.runIf(process.platform === 'linux').each([
    ['SIGSEGV', { kind: 'invalid', code: 'UNSUPPORTED_IMAGE' }],
    ['SIGABRT', { kind: 'invalid', code: 'UNSUPPORTED_IMAGE' }],
    ['SIGKILL', { kind: 'unavailable' }],
  ] as const)('that ends by %s does not affect other uploads', async (signal, refusal) => {
    const upload = await noise(300, 300).jpeg().toBuffer();
    await using testSandbox = processesOf({ processes: 1 });
    const avatars = openAvatarImages(testSandbox);
    const before = new Set(childProcesses());
    const work = avatars.fromUpload(upload, owner).then(
      () => null,
      (error: unknown) => error,
    );
    await expect.poll(() => childProcesses().some((pid) => !before.has(pid)), { interval: 2 }).toBe(true);
    for (const pid of childProcesses()) if (!before.has(pid)) process.kill(pid, signal);
    expect(await work).toMatchObject(refusal);
    expect(webpChunks(await avatars.fromUpload(upload, owner))).toEqual(['VP8 ']);
  });

  it('serves waiting uploads in turn, up to a limit', async () => {
    await using testSandbox = processesOf({ processes: 1, queueLimit: 3, tenantQueueLimit: 3 });
    const avatars = openAvatarImages(testSandbox);
    const upload = await plain(8, 8).png().toBuffer();
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => avatars.fromUpload(upload, owner)));
    expect(answers.map(({ status }) => status)).toEqual([
      ...Array<string>(4).fill('fulfilled'),
      ...Array<string>(6).fill('rejected'),
    ]);
    expect(answers.at(-1)).toMatchObject({ reason: { kind: 'unavailable', retryAfterSec: 5 } });
    expect(webpChunks(await avatars.fromUpload(upload, owner))).toEqual(['VP8 ']);
  });
});

const processesOf = (limits: SandboxLimits) => {
  const testSandbox = openSandbox(limits);
  return Object.assign(testSandbox, { [Symbol.asyncDispose]: () => testSandbox.close() });
};
