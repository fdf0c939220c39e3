import { setImmediate as turn } from 'node:timers/promises';

/** How long a loop may keep everybody else of the process waiting. */
const longestMs = 20;

/**
 * For loops whose length others decide: what it returns is awaited with each item, lets others have their turn where the loop has been at it
 * for 20 ms, and throws the signal's reason once that is aborted.
 */
export function yieldEvery(signal: AbortSignal): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < longestMs) return;
    await turn();
    signal.throwIfAborted();
    since = performance.now();
  };
}
