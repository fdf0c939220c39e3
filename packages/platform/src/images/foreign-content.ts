import { findImageEnd, findJpegEnd, hasBytes, startOfImage, viewOf } from './image-type.ts';

/**
 * What an image is or carries besides itself, in words (“a ZIP archive”); null when it is nothing but an image. Such files
 * are read as one thing here and as another elsewhere. Behind its end a JPEG may hold what phones put there. An image
 * without an end has nothing behind it: ask findImageEnd as well.
 */
export function findForeignContent(bytes: Uint8Array): string | null {
  const file = viewOf(bytes);
  // One character a byte, so that text and offsets mean the same in both.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return findSecondFormat(file, text) ?? findAppendix(file, text, findImageEnd(bytes));
}

/** Formats that start anywhere or far from the first byte, so that an image can be one of them and remain an image. */
function findSecondFormat(file: DataView, text: string): string | null {
  // Readers look for the header in the first 1,024 bytes (PDF Reference 1.7, appendix H, note 13).
  if (text.slice(0, 1_024 + 4).includes('%PDF-')) return 'a PDF document';
  if (hasZipDirectory(file, text)) return 'a ZIP archive';
  // Readers of both skip what stands in front of the signature, for archives that unpack themselves.
  if (text.includes('Rar!\x1a\x07')) return 'a RAR archive';
  if (text.includes('7z\xbc\xaf\x27\x1c')) return 'a 7z archive';
  // The first 257 bytes are a file's name and numbers (POSIX.1-2017, pax, “ustar Interchange Format”).
  if (text.startsWith('ustar', 257)) return 'a tar archive';
  // ECMA-119, 6.2.1 and 8.1: sixteen free sectors of 2,048 bytes, then one with the type and this name.
  if (text.startsWith('CD001', 16 * 2_048 + 1)) return 'a disc image';
  if (activeMarkup.test(text) || readsAsScript(text)) return 'a web page or script';
  return null;
}

const zipEnd = 'PK\x05\x06';
const zipEntry = 'PK\x01\x02';

/**
 * Whether a ZIP reader finds its directory: the record at the end of the archive, whose comment closes the file or which
 * stands behind the entries it counts (PKWARE APPNOTE, 4.3.16). Many readers overlook bytes behind the comment.
 */
function hasZipDirectory(file: DataView, text: string): boolean {
  for (let at = text.indexOf(zipEnd); at !== -1 && at + 22 <= text.length; at = text.indexOf(zipEnd, at + 4)) {
    const directory = at - file.getUint32(at + 12, true);
    const end = at + 22 + file.getUint16(at + 20, true);
    if (end === text.length || (directory >= 0 && text.startsWith(zipEntry, directory))) return true;
  }
  return false;
}

/** What makes a browser or PHP run a file whatever stands in front: tags, PHP's opening tag, the end of a phar's stub. */
const activeMarkup = /<(?:script|html|body|iframe|\?php)[\s/>]|<!doctype\s+html|__halt_compiler\s*\(/i;

/**
 * Whether a file may be JavaScript from its first byte to its last, as an image whose first bytes are a name and whose
 * next field spells a comment, as in “GIF89a/*”: outside comments and strings a script has no control characters.
 */
function readsAsScript(text: string): boolean {
  let at = 0;
  while (at !== -1 && at < text.length) {
    if (text.startsWith('/*', at)) at = endOf(text, '*/', at + 2);
    else if (text.startsWith('//', at)) at = endOfLine(text, at);
    else if (`'"\``.includes(text.charAt(at))) at = endOfString(text, at);
    else if (isControl(text.charCodeAt(at))) return false;
    else at += 1;
  }
  return at !== -1;
}

const isControl = (code: number): boolean => code < 9 || (code > 13 && code < 32);

const endOf = (text: string, mark: string, from: number): number => {
  const at = text.indexOf(mark, from);
  return at === -1 ? -1 : at + mark.length;
};

function endOfLine(text: string, from: number): number {
  let at = from;
  while (at < text.length && !'\r\n'.includes(text.charAt(at))) at += 1;
  return at;
}

function endOfString(text: string, from: number): number {
  const quote = text.charAt(from);
  for (let at = from + 1; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === quote) return at + 1;
    if (sign === '\\') at += 1;
  }
  return -1;
}

/** What stands behind the end of an image and does not belong there. Zeros only fill up. */
function findAppendix(file: DataView, text: string, end: number | null): string | null {
  if (end === null) return null;
  const at = skipZeros(file, hasBytes(file, 0, startOfImage) ? skipPhoneParts(file, text, end) : end);
  if (at === file.byteLength) return null;
  const kind = appendices.find(([, starts]) => starts.some((start) => text.startsWith(start, at)));
  return kind?.[0] ?? 'other data behind its end';
}

const appendices: [string, string[]][] = [
  ['an archive', ['PK', '\x1f\x8b']],
  ['a program', ['MZ', '\x7fELF', '#!']],
  ['another picture', ['\x89PNG', '\xff\xd8', 'GIF8', 'RIFF', 'BM']],
  ['a web page or script', ['<']],
];

function skipZeros(file: DataView, from: number): number {
  let at = from;
  while (at < file.byteLength && file.getUint8(at) === 0) at += 1;
  return at;
}

/**
 * The end of what phones append to a JPEG: pictures (a gain map, a depth map) and a video, which it announces, and records
 * of the makers, with zeros between all. Each round goes on behind the one before.
 */
function skipPhoneParts(file: DataView, text: string, end: number): number {
  const { pictures, hasVideo } = readAnnouncements(file, text.slice(0, end));
  let left = pictures - 1;
  let at = end;
  for (;;) {
    const start = skipZeros(file, at);
    const picture = left > 0 ? findJpegEnd(file, start) : null;
    if (picture !== null) left -= 1;
    const next =
      picture ??
      (hasVideo ? findVideoEnd(file, text, at, start) : null) ??
      findPixelEnd(file, text, start) ??
      // Last, since it looks through the whole file; there is one such trailer at most.
      findSamsungEnd(file, text, at, start);
    if (next === null) return at;
    at = next;
  }
}

/**
 * What a JPEG says to hold: in its multi-picture index (CIPA DC-007, 5.2.3), of which Ultra HDR makes use, or in Google's XMP
 * (Ultra HDR 1.1, “GContainer”; Dynamic Depth 1.0; Motion Photo 1.0, and its forerunner MicroVideo).
 */
function readAnnouncements(file: DataView, jpeg: string): { pictures: number; hasVideo: boolean } {
  const listed = jpeg.match(/Item:Mime(?:=["']|>)image\/jpeg/g)?.length ?? 0;
  return {
    pictures: Math.max(listed, readPictureCount(file, jpeg)),
    hasVideo: /(?:MotionPhoto|MicroVideo)(?:=["']|>)1|Item:Mime(?:=["']|>)video\//.test(jpeg),
  };
}

/** Tag of a multi-picture index with the number of pictures, the first included. */
const pictureCountTag = 0xb001;

function readPictureCount(file: DataView, jpeg: string): number {
  const index = /\xff\xe2[^]{2}MPF\0(?:II\*\0|MM\0\*)/.exec(jpeg)?.index;
  if (index === undefined) return 1;
  const tiff = index + 8;
  const isLittle = jpeg.charAt(tiff) === 'I';
  const hasRoom = (at: number, bytes: number) => at + bytes <= jpeg.length;
  const entries = hasRoom(tiff, 8) ? tiff + file.getUint32(tiff + 4, isLittle) : jpeg.length;
  const count = hasRoom(entries, 2) ? file.getUint16(entries, isLittle) : 0;
  for (let at = entries + 2; at < entries + 2 + 12 * count && hasRoom(at, 12); at += 12) {
    if (file.getUint16(at, isLittle) === pictureCountTag) return file.getUint32(at + 8, isLittle);
  }
  return 1;
}

/**
 * An MP4 or MOV that starts with its type box: boxes one behind the other, size first, that one name `moov`
 * (ISO/IEC 14496-12, 4.2). The size of the first box starts with zeros, hence two limits for where it may start.
 */
function findVideoEnd(file: DataView, text: string, earliest: number, latest: number): number | null {
  let at = [3, 2, 1, 0].map((zeros) => latest - zeros).find((start) => text.startsWith('ftyp', start + 4)) ?? -1;
  if (at < earliest) return null;
  let hasMovie = false;
  while (/^[\w ]{4}$/.test(text.slice(at + 4, at + 8))) {
    const isLong = file.getUint32(at) === 1 && at + 16 <= file.byteLength;
    const size = isLong ? Number(file.getBigUint64(at + 8)) : file.getUint32(at);
    if (size < 8 || at + size > file.byteLength) return null;
    hasMovie ||= text.startsWith('moov', at + 4);
    at += size;
  }
  return hasMovie ? at : null;
}

/**
 * Samsung's trailer: blocks, then their directory from SEFH to SEFT with the distance of each, which starts with zeros
 * (as ExifTool's Samsung.pm reads it, 1.50). Nothing may stand in front of the first block.
 */
function findSamsungEnd(file: DataView, text: string, earliest: number, latest: number): number | null {
  const tail = text.lastIndexOf('SEFT') - 4;
  if (tail < earliest + 12) return null;
  const size = file.getUint32(tail, true);
  const directory = tail - size;
  if (directory < earliest || !text.startsWith('SEFH', directory)) return null;
  const count = file.getUint32(directory + 8, true);
  if (12 + 12 * count > size) return null;
  let first = directory;
  for (let at = directory + 12; at < directory + 12 + 12 * count; at += 12) {
    first = Math.min(first, directory - file.getUint32(at + 4, true));
  }
  return first >= earliest && first <= latest ? tail + 8 : null;
}

const pixelRecord = /(?:aec|gatm|af|awb)Debug/y;

/** A record of a Pixel's camera: its name, the length as a protocol buffer writes it, the content (seen in 2020). */
function findPixelEnd(file: DataView, text: string, from: number): number | null {
  pixelRecord.lastIndex = from;
  if (!pixelRecord.test(text)) return null;
  let at = pixelRecord.lastIndex;
  let length = 0;
  for (let bits = 0; bits < 28 && at < file.byteLength; bits += 7) {
    const byte = file.getUint8(at);
    at += 1;
    length |= (byte & 0x7f) << bits;
    if (byte < 0x80) return at + length <= file.byteLength ? at + length : null;
  }
  return null;
}
