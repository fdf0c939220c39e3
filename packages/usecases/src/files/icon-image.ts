import { iconMaxBytes } from '@portal/domain/favorites';
import { findForeignContent } from '@portal/domain/foreign-content';
import { detectIconType, type IconType } from '@portal/domain/icon-type';
import { findImageEnd, readImageHeader } from '@portal/domain/image-type';
import { cleanSvg } from './clean-svg.ts';

export interface IconImage {
  type: IconType;
  bytes: Uint8Array;
}

// A few kilobytes can unfold to gigabytes of pixels in who shows them.
const maxSide = 4_096;

/** What may be kept of a file as an icon: a whole picture as it is, an SVG cleaned. Null when it is neither. */
export function readIcon(bytes: Uint8Array): IconImage | null {
  const type = detectIconType(bytes);
  if (type === null || bytes.byteLength > iconMaxBytes) return null;
  if (type === 'image/x-icon') return { type, bytes };
  if (type === 'image/svg+xml') {
    const clean = cleanSvg(bytes);
    const written = clean === null ? null : Buffer.from(clean);
    return written && written.byteLength <= iconMaxBytes ? { type, bytes: written } : null;
  }
  const header = readImageHeader(bytes);
  const isUsable =
    header !== null &&
    Math.max(header.width, header.height) <= maxSide &&
    findImageEnd(bytes) !== null &&
    findForeignContent(bytes) === null;
  return isUsable ? { type, bytes } : null;
}
