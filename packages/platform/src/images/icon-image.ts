import { iconMaxBytes } from '@portal/domain/dashboards/favorites';
import { busy, unavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import { callLimits } from '../limits.ts';
import { resource } from '../resource.ts';
import type { Whose } from '../sandbox/fair-share.ts';
import type { Sandbox } from '../sandbox/open-sandbox.ts';
import { TaskError, taskOf } from '../sandbox/task.ts';
import { openSemaphore } from '../semaphore.ts';
import { detectIconType, type IconType } from './icon-type.ts';
import { readImageHeader } from './image-type.ts';
import type { run } from './svg-cleaner.ts';

export interface IconImage {
  type: IconType;
  bytes: Uint8Array;
}

/** What is taken as an icon, unless it is to be less or more. */
interface IconLimits {
  /** Up to `largestIconBytes`. */
  maxBytes?: number;
  /** Whether it may be an ICO. */
  takesIco?: boolean;
}

/** The account or the favorite an icon is for. */
type IconOwner = Required<Whose>;

export interface IconImages {
  /**
   * What may be kept of a file as an icon: a picture as it is, an SVG cleaned. Null when it is neither. Large SVGs of one
   * owner are cleaned one after the other; throws 429 when too many of them wait, 503 when too many of all do.
   */
  read(bytes: Uint8Array, owner: IconOwner, limits?: IconLimits): Promise<IconImage | null>;
}

const largestIconBytes = 1024 * 1024;

// A few kilobytes can unfold to gigabytes of pixels in the program that shows them.
const maxSide = 4_096;

/** Cleaned at once: the worst that fits takes some 5 ms, half a megabyte some 300 ms. Most icons are smaller. */
const quickSvgBytes = 4 * 1024;
/** Cleaning takes less than a second; this is for a machine that is very busy. */
const cleanTimeoutMs = 10 * SECOND;

/** Icons from files of any origin. Large SVGs are cleaned in a process apart, so that nobody else waits for them. */
export function openIconImages(sandbox: Sandbox, timeoutMs = cleanTimeoutMs): IconImages {
  const cleaning = taskOf<typeof run>(new URL('svg-cleaner.ts', import.meta.url), {
    timeoutMs,
    maxMemoryMb: 400,
    maxOutputBytes: largestIconBytes + 1024,
  });
  const inSlotOfOwner = openSemaphore({
    ...callLimits.ownLargeIcons,
    refusal: () => busy('Your other icons are still being looked at. Please try again in a few seconds.', 5),
  });
  const inSlot = openSemaphore({
    ...callLimits.largeIcons,
    refusal: () => unavailable('Too many icons are being uploaded right now. Please try again in a few seconds.'),
  });

  async function cleanInSandbox(bytes: Uint8Array, owner: IconOwner): Promise<Uint8Array | null> {
    try {
      return await sandbox.run(cleaning, bytes, owner);
    } catch (error) {
      if (!(error instanceof TaskError) || error.fault === 'program') throw error;
      if (error.fault === 'input') return null;
      throw unavailable('Icons cannot be processed right now. Please try again later.', error);
    }
  }

  async function cleaned(bytes: Uint8Array, owner: IconOwner): Promise<Uint8Array | null> {
    if (bytes.byteLength > quickSvgBytes)
      return inSlotOfOwner(() => inSlot(() => cleanInSandbox(bytes, owner)), { key: owner.ownerId });
    // 0.02 s of the start that few APIs have a use for.
    const { cleanSvg } = await import('./clean-svg.ts');
    const clean = cleanSvg(bytes);
    return clean === null ? null : Buffer.from(clean);
  }

  return {
    async read(bytes, owner, { maxBytes = iconMaxBytes, takesIco = true } = {}) {
      const type = detectIconType(bytes);
      if (type === null || bytes.byteLength > maxBytes) return null;
      if (type === 'image/svg+xml') {
        const clean = await cleaned(bytes, owner);
        return clean && clean.byteLength <= maxBytes ? { type, bytes: clean } : null;
      }
      if (type === 'image/x-icon') return takesIco ? { type, bytes } : null;
      return isUsablePicture(bytes) ? { type, bytes } : null;
    },
  };
}

function isUsablePicture(bytes: Uint8Array): boolean {
  const header = readImageHeader(bytes);
  return header !== null && Math.max(header.width, header.height) <= maxSide;
}

/** The process's own. */
export const iconImages = resource(({ sandbox }) => openIconImages(sandbox));
