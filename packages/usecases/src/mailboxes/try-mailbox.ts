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

/** Longer than any single step may take. */
const defaultTestMs = 20 * SECOND;

interface Trial {
  folder: string;
  otherFolders?: string[];
  /** Resolves the settings of the mailbox. It first counts the test against its limit and records it in the audit log. */
  server: () => Promise<ImapServer>;
  testMs?: number | undefined;
}

const refusal = () => busy('Several mailboxes are already being tested. Please try again in a moment.', 15);

const slots = resource(() => {
  const inTenantSlot = openSemaphore({ ...callLimits.mailboxTrials, refusal });
  const inAccountSlot = openSemaphore({ ...callLimits.ownMailboxTrials, refusal });
  return <T>({ actor, tenantId }: UserContext, work: () => Promise<T>): Promise<T> =>
    inAccountSlot(() => inTenantSlot(work, { key: tenantId }), { key: actor.id });
});

/** Separate sandboxes: a slow mail server does not delay uploads of users. Each runs one test, so passwords never share a process. */
const sandboxes = resource(() =>
  openSandbox({ processes: callLimits.mailboxTrials.slots, queueLimit: 0, heapMb: 64, tasksEach: 1 }),
);

const trialTask = (testMs: number) =>
  taskOf<typeof run>(new URL('mailbox-trial-task.ts', import.meta.url), {
    // The task times out earlier, unless data from the server blocks it.
    timeoutMs: testMs + 10 * SECOND,
    maxMemoryMb: 250,
    maxOutputBytes: 64 * 1024,
  });

/**
 * Tests a mailbox in a sandbox: signs in, opens the folder read-only and checks that the other folders exist. A failure of the mailbox is
 * part of the answer. Throws 429 while too many tests of the account, of its tenant or of the process are under way, and 503 if the
 * machine lacks the memory for one.
 */
export async function tryMailbox(
  ctx: UserContext,
  { folder, otherFolders = [], server: serverOf, testMs = defaultTestMs }: Trial,
): Promise<ImapTest> {
  try {
    const { policy, password, ...settings } = await serverOf();
    const order = { settings, policy, password: password?.reveal() ?? null, folder, otherFolders, testMs };
    return await slots(ctx)(ctx, async () => {
      try {
        return await sandboxes(ctx).run(trialTask(testMs), order, { tenantId: ctx.tenantId, ownerId: ctx.actor.id });
      } catch (error) {
        if (!(error instanceof TaskError) || error.fault === 'program') throw error;
        if (error.fault === 'outside')
          throw unavailable('Mailboxes cannot be tested right now. Please try again in a few seconds.', error);
        throw new ImapFailure('protocol', settings, 'sends more data than was requested.', error);
      }
    });
  } catch (error) {
    if (!(error instanceof ImapFailure)) throw error;
    return { ok: false, error: error.kind, message: error.message };
  }
}
