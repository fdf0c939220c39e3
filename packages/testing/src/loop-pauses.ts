import { readFileSync } from 'node:fs';

/**
 * Measures the longest pause of this thread's event loop until `stop`, in milliseconds on the clock. It leaves out the time in which the
 * thread was ready to run while the kernel ran others on its processor: that says how busy the machine is, not what the thread does.
 */
export function watchLoopPauses(): { stop: () => number } {
  let longestMs = 0;
  let last = now();
  const timer = setInterval(() => {
    const current = now();
    longestMs = Math.max(longestMs, current.clockMs - last.clockMs - (current.waitedMs - last.waitedMs));
    last = current;
  }, 10);
  return {
    stop() {
      clearInterval(timer);
      return longestMs;
    },
  };
}

const now = () => ({ clockMs: performance.now(), waitedMs: waitedMs() });

/** Linux counts the time of each thread in the queue of its processor, in nanoseconds (proc(5), `schedstat`). */
function waitedMs(): number {
  if (process.platform !== 'linux') return 0;
  const [, waitedNs] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ');
  return Number(waitedNs) / 1_000_000;
}
