import type { Log } from './log.ts';

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

const codes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Whether an error of ioredis or pg says that the server is away, and not that it refused something. */
export function isConnectionTrouble(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    const code = 'code' in current ? String(current.code) : '';
    // Class 08: connection exceptions; 57P01-57P03: shutting down, crashed or starting; 53300: no slot left.
    if (codes.has(code) || /^(08...|57P0[1-3]|53300)$/.test(code) || current.name === 'MaxRetriesPerRequestError')
      return true;
    if (
      /connection (is closed|terminated|error)|not queryable|isn't writeable|timed out|timeout exceeded when trying to connect/i.test(
        current.message,
      )
    ) {
      return true;
    }
  }
  return false;
}
