/**
 * Tells whether a line of cells is the same as an earlier one, for as many lines as it is told. It keeps a number of 53 bits of each
 * instead of the line: keeping a hundred thousand lines takes as long as reading them, and two that differ share such a number once in a
 * million files.
 */
export function sameLines(maxLines: number): (cells: readonly string[]) => boolean {
  const slots = new Float64Array(2 * maxLines);
  let filled = 0;
  return (cells) => {
    const print = fingerprint(cells);
    let slot = print % slots.length;
    while (slots[slot] !== 0) {
      if (slots[slot] === print) return true;
      slot = (slot + 1) % slots.length;
    }
    if (filled < maxLines) slots[slot] = print;
    filled += 1;
    return false;
  };
}

/** Never 0, which is an empty slot. */
function fingerprint(cells: readonly string[]): number {
  let [high, low] = [1, 1];
  for (const cell of cells) {
    for (let at = 0; at <= cell.length; at += 1) {
      // The end of a cell counts like a letter that no cell has.
      const code = at < cell.length ? cell.charCodeAt(at) : 0x1_0000;
      high = Math.imul(high ^ code, 0x0100_0193) ^ (high >>> 15);
      low = Math.imul(low + code, 0x85eb_ca6b) ^ (low >>> 13);
    }
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0) || 1;
}
