import { busy, upstream } from '@portal/domain/errors';

/** What a reading of a directory has taken of the memory it may have. */
export interface ReadingMemory extends Disposable {
  /**
   * Throws 502 `DIRECTORY_UNAVAILABLE` for a directory that takes too much, 429 where others have taken what there is. A negative number
   * gives back.
   */
  take(bytes: number): void;
}

interface MemoryBounds {
  /** Bytes, roughly, for one reading and for all of a process. */
  each: number;
  all: number;
  /** What a reading may take even where others have taken all: one huge directory does not keep the small ones from being read. */
  always: number;
  /** What a person does about a directory that takes more. */
  advice: string;
}

/**
 * Bounds what the directories that are read at the same time leave in memory: an administrator may name one that sends groups without end.
 * Answers a function that begins a reading; all it has taken is free again when it is disposed of.
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
