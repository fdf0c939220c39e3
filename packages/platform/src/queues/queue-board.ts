import { invalid, notFound, unavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import { TimeoutError, withTimeout } from '../timeout.ts';
import { isConnectionTrouble } from './outage.ts';
import type { Queues } from './queues.ts';

/** Where the API serves the board: its page names its files from there. */
const basePath = '/admin/queues';
const timeoutMs = 10 * SECOND;

export interface BoardAnswer {
  type: string;
  body: Buffer;
}

/** The board over the queues, for a GET. Its library takes 0.25 s and 20 MB to load, so the first call loads it. */
export function openQueueBoard(queues: Queues) {
  let opened: ReturnType<typeof open> | undefined;
  const open = async () => (await import('./board.ts')).openBoard(queues, basePath);

  async function answer(path: string): Promise<BoardAnswer> {
    // The page asks no queue yet, and would show none where it should say that they are away.
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
    /** `path` as it came, below the address of the board, with its query. Throws 404, 400, or 503 while the queues cannot be reached. */
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

/** The library's page loads its letters from Google: a browser tells nobody else that somebody looks at the queues. */
const withoutLinks = (page: Buffer): Buffer =>
  Buffer.from(page.toString('utf8').replaceAll(/<link\b(?:(?!href=)[^<>])*href="https?:[^<>]*>/g, ''));
