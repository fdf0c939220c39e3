import { SECOND } from '@portal/domain/time';
import type { Log } from '../log.ts';
import type { RunScope } from './scope.ts';
import { touchRun } from './state.ts';

const writeEveryMs = SECOND;
/** Well below the 60 s after which the sweep takes a silent run for abandoned. */
const beatEveryMs = 15 * SECOND;

export interface WatchedRun {
  scope: RunScope;
  runId: string;
  /** Records the progress; written at most once a second. */
  report(done: number, total: number): void;
  /** Writes the last reported progress and stops. */
  stop(): Promise<void>;
}

/** Keeps extending a run's lease and writes its progress. */
export function watchProgress(scope: RunScope, runId: string, log: Log): WatchedRun {
  let unwritten: { done: number; total: number } | null = null;
  let writing = Promise.resolve();
  let lastWrite = performance.now();
  const write = () => {
    const progress = unwritten;
    unwritten = null;
    lastWrite = performance.now();
    writing = writing
      .then(() => touchRun(scope, runId, progress))
      .catch((error: unknown) => log.warn({ err: error, runId }, 'the progress of a run could not be written'));
  };
  const timer = setInterval(() => {
    if (unwritten || performance.now() - lastWrite >= beatEveryMs) write();
  }, writeEveryMs);
  let isStopped = false;
  return {
    scope,
    runId,
    report(done, total) {
      unwritten = { done, total };
    },
    async stop() {
      if (isStopped) return;
      isStopped = true;
      clearInterval(timer);
      if (unwritten) write();
      await writing;
    },
  };
}
