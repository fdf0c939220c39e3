import { busy, upstream } from '@portal/domain/errors';

/** The memory budget of one directory reading. */
export interface ReadingMemory extends Disposable {
  /**
   * Takes bytes from the budget; a negative number gives them back. Throws 502 `DIRECTORY_UNAVAILABLE` if this directory needs too
   * much, 429 if other readings have used up the budget of the process.
   */
  take(bytes: number): void;
}

interface MemoryBounds {
  /** Approximate bytes per reading. */
  each: number;
  /** Approximate bytes for all readings of a process. */
  all: number;
  /** Bytes that a reading may always take, so that one huge directory does not block small ones. */
  always: number;
  /** Tells the administrator what to do if a directory needs more than `each`. */
  advice: string;
}

/**
 * Bounds the memory of concurrent directory readings, because an administrator may configure a directory that sends endless groups.
 * Returns a function that begins a reading. Disposing of the reading frees all its memory.
 */
export function openReadingMemory({ each, all, always, advice }: MemoryBounds): () => ReadingMemory {
  let inUse = 0;
  return () => {
    let own = 0;
    return {
      take(bytes) {
        own += bytes;
        inUse += bytes;
        if (bytes <= 0) return;
        if (own > each)
          throw upstream(
            'DIRECTORY_UNAVAILABLE',
            `The directory has more people, groups and members than can be read at once. ${advice}`,
          );
        if (inUse > all && own > always)
          throw busy('Other large directories are being read. Please try again in a moment.', 30);
      },
      [Symbol.dispose]() {
        inUse -= own;
        own = 0;
      },
    };
  };
}
