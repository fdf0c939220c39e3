import { setImmediate as turn } from 'node:timers/promises';

/** How long a loop may block the event loop. */
const longestMs = 20;

/**
 * For loops over input of any length. Await the returned function with each item: after every 20 ms it yields to the event loop, and then
 * throws the signal's reason if that is aborted.
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
