import { unavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import type { Log } from '../log.ts';
import { TimeoutError, withTimeout } from '../timeout.ts';
import { isConnectionTrouble } from './outage.ts';
import type { Queues } from './queues.ts';

export interface BoardRequest {
  method: 'GET' | 'PUT';
  /** As it came: below the address the board is at, with its query. */
  path: string;
}

export interface BoardAnswer {
  status: number;
  type: string;
  body: Buffer;
}

/** What people look at the queues with. */
export interface Board {
  ask(request: BoardRequest): Promise<BoardAnswer>;
  close(): Promise<void>;
}

const timeoutMs = 10 * SECOND;

/** The board, loaded when somebody first asks for it. Throws 503 while the queues cannot be reached. */
export function lazyBoard(queues: Queues, log: Log): Board {
  let opened: Promise<Board> | undefined;
  return {
    async ask(request) {
      try {
        opened ??= import('./board.ts').then(({ openBoard }) => openBoard(queues, log));
        opened.catch(() => (opened = undefined));
        return await withTimeout(
          opened.then((board) => board.ask(request)),
          timeoutMs,
        );
      } catch (cause) {
        if (!isConnectionTrouble(cause) && !(cause instanceof TimeoutError)) throw cause;
        throw unavailable('The job queue cannot be reached right now. Please try again in a few seconds.', cause);
      }
    },
    close: async () => (await opened)?.close(),
  };
}
