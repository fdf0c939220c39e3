import type { Config } from './config.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Sandbox } from './sandbox/open-sandbox.ts';

/** The resources that a process has opened so far, by `resource` function. */
export type Resources = Map<unknown, unknown>;

interface Process {
  config: Config;
  log: Log;
  metrics: Metrics;
  sandbox: Sandbox;
  resources: Resources;
}

/**
 * A resource that an area opens once per process, on first use, such as keys from the settings or a semaphore. All contexts share it.
 */
export function resource<T>(open: (process: Process) => T): (process: Process) => T {
  return function of(process) {
    if (!process.resources.has(of)) process.resources.set(of, open(process));
    return process.resources.get(of) as T;
  };
}
