import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Resources of a process: bytes that a garbage collection cannot free, resident bytes, and the active resources of its event loop. */
export interface HeldState {
  held: number;
  resident: number;
  resources: number;
  /** Processor time so far, microseconds. */
  cpuUs: number;
}

// Preloaded into a program (`node --import FILE-URL`): reports its resources on request. Without a garbage collection first, memory would
// fluctuate by tens of MiB and hide a growth of one percent for hours.
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
// The channel does not keep the program alive.
process.channel?.unref();
