import { unavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import { TimeoutError, withTimeout } from './timeout.ts';

/** The longest a person's call waits for what others hold: a lease, a lock, a place. */
export const longestWaitMs = 15 * SECOND;

/**
 * The outcome of work that a person waits for. Throws 503 when it takes longer than that. The work then goes on by itself: its signal
 * tells it to wait for nothing more, and what it has begun it ends within bounds of its own.
 */
export async function answerInTime<T>(message: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const patience = new AbortController();
  try {
    return await withTimeout(work(patience.signal), longestWaitMs);
  } catch (error) {
    if (error instanceof TimeoutError) throw unavailable(message, error);
    throw error;
  } finally {
    patience.abort();
  }
}
