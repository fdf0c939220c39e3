/**
 * Returns a function that detects repeated lines among the first `maxLines`. It stores a 53-bit hash per line: storing 100,000 whole lines
 * takes as long as reading them, and two different lines share a hash in one of a million files.
 */
export function sameLines(maxLines: number): (cells: readonly string[]) => boolean {
  const slots = new Float64Array(2 * maxLines);
  let filled = 0;
  return (cells) => {
    const hash = hashOf(cells);
    let slot = hash % slots.length;
    while (slots[slot] !== 0) {
      if (slots[slot] === hash) return true;
      slot = (slot + 1) % slots.length;
    }
    if (filled < maxLines) slots[slot] = hash;
    filled += 1;
    return false;
  };
}

/** Never 0, which marks an empty slot. */
function hashOf(cells: readonly string[]): number {
  let [high, low] = [1, 1];
  for (const cell of cells) {
    for (let at = 0; at <= cell.length; at += 1) {
      // Marks the end of a cell with a code that no character has.
      const code = at < cell.length ? cell.charCodeAt(at) : 0x1_0000;
      high = Math.imul(high ^ code, 0x0100_0193) ^ (high >>> 15);
      low = Math.imul(low + code, 0x85eb_ca6b) ^ (low >>> 13);
    }
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0) || 1;
}
