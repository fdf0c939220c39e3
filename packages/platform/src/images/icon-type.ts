import { detectImageType, extensionOf, hasBytes, type ImageType, viewOf } from './image-type.ts';

export type IconType = ImageType | 'image/x-icon' | 'image/svg+xml';

/** File extension for stored icons of this type, without a dot. */
export const iconExtensionOf = (type: IconType): string => {
  if (type === 'image/svg+xml') return 'svg';
  return type === 'image/x-icon' ? 'ico' : extensionOf(type);
};

/** Detects the type of an icon from its content only, never from a name or declared type. An SVG is only recognized, not checked. */
export function detectIconType(bytes: Uint8Array): IconType | null {
  if (isIco(bytes)) return 'image/x-icon';
  return detectImageType(bytes) ?? (isSvg(bytes) ? 'image/svg+xml' : null);
}

const pngStart = [0x89, 0x50, 0x4e, 0x47];
/** Size of a BITMAPINFOHEADER; a bitmap without a file header starts with it. */
const bitmapStart = [40, 0, 0, 0];
const maxIcoImages = 64;

/**
 * Whether the file is a directory of images, each a PNG or a bitmap after the directory and within the file, with nothing after the last
 * image. The format has no specification besides its writers: .ico since Windows 3.0, with PNG inside since Vista.
 */
function isIco(bytes: Uint8Array): boolean {
  const file = viewOf(bytes);
  if (!hasBytes(file, 0, [0, 0, 1, 0]) || file.byteLength < 6) return false;
  const count = file.getUint16(4, true);
  const directoryEnd = 6 + 16 * count;
  if (count === 0 || count > maxIcoImages || directoryEnd > file.byteLength) return false;
  let last = 0;
  for (let entry = 6; entry < directoryEnd; entry += 16) {
    const size = file.getUint32(entry + 8, true);
    const start = file.getUint32(entry + 12, true);
    const isInside = start >= directoryEnd && start + size <= file.byteLength;
    if (!isInside || !(hasBytes(file, start, pngStart) || hasBytes(file, start, bitmapStart))) return false;
    last = Math.max(last, start + size);
  }
  return last === file.byteLength;
}

/** Whether the text is XML with an svg element near its beginning; declaration, comments and document type may precede it. */
function isSvg(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16_384)).toString();
  return /^\ufeff?\s*</.test(start) && /<(?:svg:)?svg[\s/>]/.test(start);
}
