import { setImmediate as turn } from 'node:timers/promises';

/** How long a loop may block the event loop. */
const longestMs = 20;

/**
 * For loops over input of any length. Call the returned function with each item and await what it returns: after every 20 ms that is a
 * promise which yields to the event loop, and then throws the signal's reason if that is aborted. In between it returns undefined, so that
 * a loop over a hundred thousand items can do without as many promises.
 */
export function yieldEvery(signal: AbortSignal): () => Promise<void> | undefined {
  let since = performance.now();
  const yieldNow = async () => {
    await turn();
    signal.throwIfAborted();
    since = performance.now();
  };
  return () => (performance.now() - since < longestMs ? undefined : yieldNow());
}
