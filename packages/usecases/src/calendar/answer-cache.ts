/** An answer with its size in memory and its expiry, by `performance.now()`. */
interface Sized {
  bytes: number;
  until: number;
}

/**
 * An LRU cache of answers, limited by their total size in bytes. A caller that asks for an answer in progress waits for it. An answer
 * that failed or has expired is computed again.
 */
export function openAnswerCache<Answer extends Sized>(maxBytes: number) {
  const entries = new Map<string, { made: Promise<Answer>; bytes: number; until: number }>();
  let bytes = 0;

  function drop(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  return async function get(key: string, make: () => Promise<Answer>): Promise<Answer> {
    const known = entries.get(key);
    if (known && known.until > performance.now()) {
      entries.delete(key);
      entries.set(key, known);
      return known.made;
    }
    drop(key);
    const entry = { made: make(), bytes: 0, until: Infinity };
    entries.set(key, entry);
    try {
      const answer = await entry.made;
      if (entries.get(key) === entry) {
        entry.until = answer.until;
        entry.bytes = answer.bytes + key.length;
        bytes += entry.bytes;
        for (const oldest of entries.keys()) {
          if (bytes <= maxBytes) break;
          drop(oldest);
        }
      }
      return answer;
    } catch (error) {
      if (entries.get(key) === entry) drop(key);
      throw error;
    }
  };
}
