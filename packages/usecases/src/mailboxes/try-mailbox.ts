import { ImapFailure } from '@portal/connectors/imap/imap-failure';
import type { ImapServer } from '@portal/connectors/imap/mailbox';
import { busy, unavailable } from '@portal/domain/errors';
import type { ImapTest } from '@portal/domain/imap';
import { SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { resource } from '@portal/platform/resource';
import { openSemaphores, openSharedSlots } from '@portal/platform/semaphore';
import { openWorkApart } from '@portal/platform/work-apart/open-work-apart';
import { TaskError, taskOf } from '@portal/platform/work-apart/task';
import type { run } from './mailbox-trial-task.ts';

/** Longer than each of its steps may take. */
const usualTestMs = 20 * SECOND;
/** Trials at a time. Each has a process of some 60 MB, so that nothing but the trial ends with what a server sends. */
const most = { ofProcess: 12, ofTenant: 3, ofAccount: 2 };

interface Trial {
  folder: string;
  otherFolders?: string[];
  /** Says how the mailbox is reached, after it has counted the trial and noted it for the audit log. */
  server: () => Promise<ImapServer>;
  testMs?: number | undefined;
}

const refusal = () => busy('Several mailboxes are already being tested. Please try again in a moment.', 15);

const places = resource(() => {
  // Nobody waits for a place: a person would wait for longer than an answer may take.
  const inPlaceOfTenant = openSharedSlots({
    each: { slots: most.ofTenant, queueLimit: 0 },
    all: { slots: most.ofProcess, queueLimit: 0 },
    refusal,
  });
  const inPlaceOfAccount = openSemaphores({ slots: most.ofAccount, queueLimit: 0, refusal });
  return <T>({ actor, tenantId }: UserContext, work: () => Promise<T>): Promise<T> =>
    inPlaceOfAccount(actor.id, () => inPlaceOfTenant(tenantId, work));
});

/** Processes of their own: a slow mail server takes no place from files that people upload. No password meets another trial in one. */
const processes = resource(() => openWorkApart({ processes: most.ofProcess, queueLimit: 0, heapMb: 64, tasksEach: 1 }));

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
