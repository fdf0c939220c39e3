import { ImapFailure } from '@portal/connectors/imap/imap-failure';
import type { ImapServer } from '@portal/connectors/imap/mailbox';
import { busy, unavailable } from '@portal/domain/errors';
import type { ImapTest } from '@portal/domain/imap';
import { SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { callLimits } from '@portal/platform/limits';
import { resource } from '@portal/platform/resource';
import { openSandbox } from '@portal/platform/sandbox/open-sandbox';
import { TaskError, taskOf } from '@portal/platform/sandbox/task';
import { openSemaphore } from '@portal/platform/semaphore';
import type { run } from './mailbox-trial-task.ts';

/** Longer than each of its steps may take. */
const usualTestMs = 20 * SECOND;

interface Trial {
  folder: string;
  otherFolders?: string[];
  /** Says how the mailbox is reached, after it has counted the trial and noted it for the audit log. */
  server: () => Promise<ImapServer>;
  testMs?: number | undefined;
}

const refusal = () => busy('Several mailboxes are already being tested. Please try again in a moment.', 15);

const places = resource(() => {
  const inPlaceOfTenant = openSemaphore({ ...callLimits.mailboxTrials, refusal });
  const inPlaceOfAccount = openSemaphore({ ...callLimits.ownMailboxTrials, refusal });
  return <T>({ actor, tenantId }: UserContext, work: () => Promise<T>): Promise<T> =>
    inPlaceOfAccount(() => inPlaceOfTenant(work, { key: tenantId }), { key: actor.id });
});

/** Processes of their own: a slow mail server takes no place from files that people upload. No password meets another trial in one. */
const processes = resource(() =>
  openSandbox({ processes: callLimits.mailboxTrials.slots, queueLimit: 0, heapMb: 64, tasksEach: 1 }),
);

const trialWithin = (testMs: number) =>
  taskOf<typeof run>(new URL('mailbox-trial-task.ts', import.meta.url), {
    // It ends by itself before, unless what the server sends keeps it from that.
    timeoutMs: testMs + 10 * SECOND,
    maxMemoryMb: 250,
    maxOutputBytes: 64 * 1024,
  });

/**
 * Tries a mailbox in a process of its own: signs in, opens the folder without a trace and looks for the others. Trouble with the mailbox
 * is part of the answer. Throws 429 while too many trials of the account, of its tenant or of all are under way, and 503 where the machine
 * has no memory for one.
 */
export async function tryMailbox(
  ctx: UserContext,
  { folder, otherFolders = [], server: serverOf, testMs = usualTestMs }: Trial,
): Promise<ImapTest> {
  try {
    const { policy, password, ...settings } = await serverOf();
    const order = { settings, policy, password: password?.reveal() ?? null, folder, otherFolders, testMs };
    return await places(ctx)(ctx, async () => {
      try {
        return await processes(ctx).run(trialWithin(testMs), order, { tenantId: ctx.tenantId, ownerId: ctx.actor.id });
      } catch (error) {
        if (!(error instanceof TaskError) || error.fault === 'program') throw error;
        if (error.fault === 'outside')
          throw unavailable('Mailboxes cannot be tested right now. Please try again in a few seconds.', error);
        throw new ImapFailure('protocol', settings, 'sends more than was asked for.', error);
      }
    });
  } catch (error) {
    if (!(error instanceof ImapFailure)) throw error;
    return { ok: false, error: error.kind, message: error.message };
  }
}
