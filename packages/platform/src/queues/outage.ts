import { isUnreachable } from '@portal/db/database-error';
import type { Log } from '../log.ts';

/** Tells the log once that something went away and once that it is back, however often it is tried meanwhile. */
export interface Outage {
  failed(error: unknown): void;
  passed(): void;
}

export function watchOutage(log: Log, what: string): Outage {
  let isAway = false;
  return {
    failed(error) {
      if (!isAway) log.warn({ err: error }, `${what} cannot be reached`);
      isAway = true;
    },
    passed() {
      if (isAway) log.info(`${what} is back`);
      isAway = false;
    },
  };
}

const queueFailures = /connection is closed|isn't writeable|timed out|timeout exceeded when trying to connect/i;

/** Whether an error of ioredis or pg says that the server is away, and not that it refused something. */
export function isConnectionTrouble(error: unknown): boolean {
  if (isUnreachable(error)) return true;
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current.name === 'MaxRetriesPerRequestError' || queueFailures.test(current.message)) return true;
  }
  return false;
}
