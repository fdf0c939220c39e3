import { isUnreachable } from '@portal/db/database-error';
import type { Log } from '../log.ts';

/** Logs an outage once at its beginning and once at its end, regardless of the attempts in between. */
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

const queueFailures =
  /connection is closed|isn't (?:writeable|ready)|timed out|socket timeout|timeout exceeded when trying to connect|sentinels are unreachable|startup nodes|slots cache/i;
/** What a Redis answers that is starting, no longer the primary, or without the servers it needs. */
const queueRefusals = /\b(?:READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|UNBLOCKED)\b/;

/** Whether an error of ioredis or pg means that the server cannot be reached or cannot work yet, as opposed to a refusal. */
export function isConnectionTrouble(error: unknown): boolean {
  if (isUnreachable(error)) return true;
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current.name === 'MaxRetriesPerRequestError') return true;
    if (queueFailures.test(current.message) || queueRefusals.test(current.message)) return true;
  }
  return false;
}
