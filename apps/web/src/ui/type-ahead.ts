const pauseMs = 600;

/** Finds the entry that begins with the letters typed without a pause. A repeated letter goes to the next entry that begins with it. */
export function typeAhead(): (key: string, atMs: number, labels: readonly string[], current: number) => number {
  let typed = '';
  let lastMs = 0;
  return (key, atMs, labels, current) => {
    typed = atMs - lastMs > pauseMs ? fold(key) : typed + fold(key);
    lastMs = atMs;
    const isRepeated = typed.length > 1 && [...typed].every((letter) => letter === typed[0]);
    const wanted = isRepeated ? typed.slice(0, 1) : typed;
    // One letter moves on from the current entry; further letters may still mean it.
    const from = wanted.length === 1 ? current + 1 : Math.max(current, 0);
    const order = labels.map((_, step) => (from + step) % labels.length);
    return order.find((index) => fold(labels[index] ?? '').startsWith(wanted)) ?? -1;
  };
}

const fold = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
