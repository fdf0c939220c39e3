import { iconMaxBytes } from '@portal/domain/dashboards/favorites';
import { busy, unavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import { callLimits } from '../limits.ts';
import { resource } from '../resource.ts';
import type { TaskOwner } from '../sandbox/fair-share.ts';
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

/** Deviations from the usual limits of an icon. */
interface IconLimits {
  /** At most `largestIconBytes`. */
  maxBytes?: number;
  /** Whether ICO files are accepted. */
  acceptsIco?: boolean;
}

/** The account or favorite that the icon is for. */
type IconOwner = Required<TaskOwner>;

export interface IconImages {
  /**
   * The icon in a file: a picture unchanged, an SVG cleaned. Null if it is neither. Large SVGs of one owner are cleaned one after the
   * other. Throws 429 if too many SVGs of this owner wait, 503 if too many wait in total.
   */
  read(bytes: Uint8Array, owner: IconOwner, limits?: IconLimits): Promise<IconImage | null>;
}

const largestIconBytes = 1024 * 1024;

// A few kilobytes can expand to gigabytes of pixels in the program that shows them.
const maxSide = 4_096;

/** Up to this size SVGs are cleaned in this process: the worst case takes about 5 ms, half a megabyte about 300 ms. Most icons fit. */
const quickSvgBytes = 4 * 1024;
/** Cleaning takes less than a second; the limit leaves reserve for a very busy machine. */
const cleanTimeoutMs = 10 * SECOND;

/** Reads icons from untrusted files. Large SVGs are cleaned in a sandbox, so that other requests do not wait for them. */
export function openIconImages(sandbox: Sandbox, timeoutMs = cleanTimeoutMs): IconImages {
  const cleaning = taskOf<typeof run>(new URL('svg-cleaner.ts', import.meta.url), {
    timeoutMs,
    maxMemoryMb: 400,
    maxOutputBytes: largestIconBytes + 1024,
  });
  const inSlotOfOwner = openSemaphore({
    ...callLimits.ownLargeIcons,
    refusal: () => busy('Your other icons are still being checked. Please try again in a few seconds.', 5),
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
    // Saves 0.02 s of start-up; few API processes need it.
    const { cleanSvg } = await import('./clean-svg.ts');
    const clean = cleanSvg(bytes);
    return clean === null ? null : Buffer.from(clean);
  }

  return {
    async read(bytes, owner, { maxBytes = iconMaxBytes, acceptsIco = true } = {}) {
      const type = detectIconType(bytes);
      if (type === null || bytes.byteLength > maxBytes) return null;
      if (type === 'image/svg+xml') {
        const clean = await cleaned(bytes, owner);
        return clean && clean.byteLength <= maxBytes ? { type, bytes: clean } : null;
      }
      if (type === 'image/x-icon') return acceptsIco ? { type, bytes } : null;
      return isUsablePicture(bytes) ? { type, bytes } : null;
    },
  };
}

function isUsablePicture(bytes: Uint8Array): boolean {
  const header = readImageHeader(bytes);
  return header !== null && Math.max(header.width, header.height) <= maxSide;
}

/** The instance of the process. */
export const iconImages = resource(({ sandbox }) => openIconImages(sandbox));
