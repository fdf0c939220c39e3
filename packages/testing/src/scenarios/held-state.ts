import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What a process holds: bytes that nothing can free, all bytes the kernel gave it, and what its loop waits for. */
export interface HeldState {
  held: number;
  resident: number;
  resources: number;
  /** Processor time so far, microseconds. */
  cpuUs: number;
}

// Loaded before a program (`node --import FILE-URL`): says on request what it holds. Without the collection, memory would go up and down
// by tens of MiB, and what grows by one in a hundred would not be seen for hours.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
process.on('message', (message) => {
  if (message !== 'state') return;
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const state: HeldState = {
    held: heapUsed + external,
    resident: rss,
    resources: process.getActiveResourcesInfo().length,
    cpuUs: user + system,
  };
  process.send?.(state);
});
// The program ends when it would without this.
process.channel?.unref();
