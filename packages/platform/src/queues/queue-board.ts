import { invalid, notFound, unavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import { TimeoutError, withTimeout } from '../timeout.ts';
import { isConnectionTrouble } from './outage.ts';
import type { Queues } from './queues.ts';

/** The path at which the API serves the board; the page's file names start with it. */
const basePath = '/admin/queues';
const timeoutMs = 10 * SECOND;

export interface BoardAnswer {
  type: string;
  body: Buffer;
}

/**
 * The board over the queues, asked for each call instead of mounted in the API. Mounted, its library (0.25 s, 20 MB) would load at every
 * start, its error handler would show messages of drivers, and routes that a later version adds would be open. It is read-only, because
 * sweeps find the rows of failed jobs.
 */
export function openQueueBoard(queues: Queues) {
  let opened: ReturnType<typeof open> | undefined;
  const open = async () => (await import('./board.ts')).openBoard(queues, basePath);

  async function answer(path: string): Promise<BoardAnswer> {
    // The page itself reads no queue: during an outage it would show no queues instead of an error.
    if (!path.startsWith('/static/')) await queues.ping();
    opened ??= open();
    opened.catch(() => (opened = undefined));
    const { statusCode, headers, rawPayload } = await (await opened).inject(path || '/');
    if (statusCode === 404) throw notFound();
    if (statusCode >= 500) throw unavailable(away, new Error(`the board answered ${rawPayload.toString()}`));
    if (statusCode >= 400) throw invalid('VALIDATION_FAILED');
    const type = headers['content-type'] ?? '';
    return { type, body: type.startsWith('text/html') ? withoutLinks(rawPayload) : rawPayload };
  }

  return {
    /** `path` is relative to the board, including the query. Throws 404, 400, or 503 while the queues cannot be reached. */
    async ask(path: string): Promise<BoardAnswer> {
      try {
        return await withTimeout(answer(path), timeoutMs);
      } catch (cause) {
        if (!isConnectionTrouble(cause) && !(cause instanceof TimeoutError)) throw cause;
        throw unavailable(away, cause);
      }
    },
    close: async () => (await opened)?.close(),
  };
}

const away = 'The job queue cannot be reached right now. Please try again in a few seconds.';

/** Removes links to other hosts: the library's page would load fonts from Google. */
const withoutLinks = (page: Buffer): Buffer =>
  Buffer.from(page.toString('utf8').replaceAll(/<link\b(?:(?!href=)[^<>])*href="https?:[^<>]*>/g, ''));
