import { ImapFailure } from '@portal/connectors/imap/imap-failure';
import type { ImapServer, Mailbox } from '@portal/connectors/imap/mailbox';
import { busy } from '@portal/domain/errors';
import type { ImapTest } from '@portal/domain/imap';
import { SECOND } from '@portal/domain/time';
import { openSharedSlots } from '@portal/platform/semaphore';

/** Longer than each of its steps may take. */
const usualTestMs = 20 * SECOND;

interface Trial {
  /** Whose tries share their places. */
  key: string;
  folder: string;
  /** How it is reached; what is to be counted and noted before anything is dialled is done by then. */
  server: () => Promise<ImapServer>;
  /** What else has to be there. */
  look?: (mailbox: Mailbox, server: ImapServer) => Promise<void>;
  testMs?: number | undefined;
}

/** Tries of one kind of mailbox: each signs in, opens the folder without a trace and has trouble with it as part of its answer. */
export function mailboxTrials() {
  // Nobody waits for a place: what hangs would make a person wait for longer than the answer may take.
  const inSlot = openSharedSlots({
    each: { slots: 4, queueLimit: 0 },
    all: { slots: 40, queueLimit: 0 },
    refusal: () => busy('Several mailboxes are already being tested. Please try again in a moment.', 15),
  });

  return async function tryMailbox(trial: Trial): Promise<ImapTest> {
    const { key, folder, look, testMs = usualTestMs } = trial;
    try {
      const server = await trial.server();
      const { openMailbox } = await import('@portal/connectors/imap/mailbox');
      await inSlot(key, async () => {
        const signal = AbortSignal.timeout(testMs);
        try {
          using mailbox = await openMailbox(server, { folder, isWritable: false, signal });
          await look?.(mailbox, server);
        } catch (error) {
          if (!signal.aborted) throw error;
          throw new ImapFailure('timeout', server, `did not answer within ${testMs / SECOND} seconds.`, error);
        }
      });
      return { ok: true, error: null, message: 'The mailbox can be read.' };
    } catch (error) {
      if (!(error instanceof ImapFailure)) throw error;
      return { ok: false, error: error.kind, message: error.message };
    }
  };
}
