/** An answer that takes memory, and from when on it is not right any more, by `performance.now()`. */
interface Sized {
  bytes: number;
  until: number;
}

/**
 * Answers that are worth keeping, up to a number of bytes together: those nobody asked for the longest go first. Who asks for one
 * that is being made waits for it. One that failed, or whose time is over, is made again.
 */
export function keepAnswers<Answer extends Sized>(maxBytes: number) {
  const kept = new Map<string, { made: Promise<Answer>; bytes: number; until: number }>();
  let bytes = 0;

  function drop(key: string): void {
    bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  }

  return async function get(key: string, make: () => Promise<Answer>): Promise<Answer> {
    const known = kept.get(key);
    if (known && known.until > performance.now()) {
      kept.delete(key);
      kept.set(key, known);
      return known.made;
    }
    drop(key);
    const entry = { made: make(), bytes: 0, until: Infinity };
    kept.set(key, entry);
    try {
      const answer = await entry.made;
      if (kept.get(key) === entry) {
        entry.until = answer.until;
        entry.bytes = answer.bytes + key.length;
        bytes += entry.bytes;
        for (const oldest of kept.keys()) {
          if (bytes <= maxBytes) break;
          drop(oldest);
        }
      }
      return answer;
    } catch (error) {
      if (kept.get(key) === entry) drop(key);
      throw error;
    }
  };
}
