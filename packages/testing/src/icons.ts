import { crc32, deflateSync } from 'node:zlib';

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

function pngChunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), content]);
  return Buffer.concat([uint32(content.length), named, uint32(crc32(named))]);
}

/** A gray PNG of this size; another shade gives another file. */
export function pngIcon({ side = 32, shade = 128 } = {}): Buffer {
  const row = Buffer.alloc(side, shade);
  return png({ width: side, colorType: 0 }, Array(side).fill(row));
}

/** A colored PNG; `colorAt` answers red, green and blue from 0 to 255. */
export function pngPicture(width: number, height: number, colorAt: (x: number, y: number) => number[]): Buffer {
  const rows = Array.from({ length: height }, (_, y) =>
    Buffer.from(Array.from({ length: width }, (_, x) => colorAt(x, y)).flat()),
  );
  return png({ width, colorType: 2 }, rows);
}

/** With 8 bits per sample and unfiltered rows. */
function png({ width, colorType }: { width: number; colorType: 0 | 2 }, rows: Buffer[]): Buffer {
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', Buffer.concat([uint32(width), uint32(rows.length), Buffer.from([8, colorType, 0, 0, 0])])),
    pngChunk('IDAT', deflateSync(Buffer.concat(rows.flatMap((row) => [Buffer.from([0]), row])))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** An ICO of these images, PNG or bitmaps. */
export function icoOf(...images: Buffer[]): Buffer {
  const header = Buffer.from([0, 0, 1, 0, images.length, 0]);
  let start = 6 + 16 * images.length;
  const entries = images.map((image) => {
    const entry = Buffer.from([32, 32, 0, 0, 1, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    entry.writeUInt32LE(image.length, 8);
    entry.writeUInt32LE(start, 12);
    start += image.length;
    return entry;
  });
  return Buffer.concat([header, ...entries, ...images]);
}

export const svgIcon = (content = '<path d="M0 0h8v8z"/>'): Buffer =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">${content}</svg>`);
