import type { Config } from './config.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Sandbox } from './sandbox/open-sandbox.ts';

/** What a process has opened so far, by who opens it. */
export type Resources = Map<unknown, unknown>;

interface Process {
  config: Config;
  log: Log;
  metrics: Metrics;
  sandbox: Sandbox;
  resources: Resources;
}

/**
 * Something an area opens once for its process, on first use: keys read from the settings, a bound on how much runs at once.
 * Every context reaches the same one.
 */
export function resource<T>(open: (process: Process) => T): (process: Process) => T {
  return function of(process) {
    if (!process.resources.has(of)) process.resources.set(of, open(process));
    return process.resources.get(of) as T;
  };
}
