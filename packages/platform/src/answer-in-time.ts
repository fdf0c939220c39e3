import { unavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import { TimeoutError, withTimeout } from './timeout.ts';

/** Maximum time that a user's request waits for a shared resource: a lease, a lock, a slot. */
export const longestWaitMs = 15 * SECOND;

/**
 * Returns the result of work that a user waits for. Throws 503 after `longestWaitMs`. The work continues in the background: its signal
 * tells it to stop waiting for shared resources, and it finishes what it has begun within its own limits.
 */
export async function answerInTime<T>(message: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const waiting = new AbortController();
  try {
    return await withTimeout(work(waiting.signal), longestWaitMs);
  } catch (error) {
    if (error instanceof TimeoutError) throw unavailable(message, error);
    throw error;
  } finally {
    waiting.abort();
  }
}
