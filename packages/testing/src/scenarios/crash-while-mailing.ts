import { setTimeout as pause } from 'node:timers/promises';
import { inArray, isNull, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { mails } from '@portal/db/schema/platform/mails';
import { reminders } from '@portal/db/schema/reminders';
import { newId } from '@portal/domain/ids';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { queueMails } from '@portal/platform/outbox/queue-mail';
import { openRuntime, type Runtime } from '@portal/platform/runtime';
import { passwordChangedMail } from '@portal/usecases/accounts/mails/password-changed';
import { builders } from '../make.ts';
import { type ReceivedMail, startSmtpServer } from '../servers/smtp-server.ts';
import { startWorkerProcess, type WorkerProcess, workerSettings } from './worker-process.ts';

export interface CrashResult {
  kills: number;
  /** Mails that never arrived. */
  lost: number;
  /** Deliveries of a mail beyond the first. */
  repeated: number;
  /** Mails that the server had accepted and the worker had not settled when it was killed: the one gap that SMTP leaves. */
  inTheGap: number;
  /** Repeats of mails that were not in that gap. */
  unexplained: number;
  otherMessageId: number;
  /** Reminders without a trace of their sent mail. */
  untraced: number;
}

interface CrashOptions {
  databaseUrl: string;
  redisUrl: string | null;
  /** What queues the mails: the outbox directly, or due reminders. */
  from: 'outbox' | 'reminders';
  mails: number;
  /** Each tenant has an outbox, which a worker drains forty mails at a time. */
  tenants: number;
  kills: number;
  deadlineMs: number;
  say: (line: string) => void;
}

/** The mail server's delay for each message, so that a kill hits mails in every state. */
const serverDelayMs = 30;

/** Sends mails through the real worker process and an SMTP server, and repeatedly kills the worker with SIGKILL. */
export async function crashWhileMailing(options: CrashOptions): Promise<CrashResult> {
  const received = new Map<string, ReceivedMail[]>();
  let accepted = 0;
  let onAccepted: () => void = () => undefined;
  const smtp = await startSmtpServer({
    delayMs: serverDelayMs,
    onMessage: (mail) => {
      const address = mail.envelopeTo[0] ?? '';
      received.set(address, [...(received.get(address) ?? []), mail]);
      accepted += 1;
      onAccepted();
    },
  });
  const env = workerSettings({ ...options, smtpPort: smtp.port });
  const runtime = openRuntime(readConfig(env), { process: 'script', log: openLog('silent', 'script') });
  const across = runtime.database.acrossTenants;
  const inTheGap = new Map<string, number>();
  const deadline = performance.now() + options.deadlineMs;
  let worker: WorkerProcess | null = null;

  /** Resolves when the server has accepted `count` more mails, or when none are left. */
  async function mailsAccepted(count: number, life: WorkerProcess): Promise<void> {
    const target = accepted + count;
    while (accepted < target && performance.now() < deadline && (await unsettled()) > 0) {
      await Promise.race([
        life.unexpectedEnd,
        new Promise<void>((resolve) => {
          onAccepted = () => (accepted >= target ? resolve() : undefined);
        }),
        pause(1_000),
      ]);
    }
  }

  const unsettled = (): Promise<number> =>
    across('the soak counts what is left', async (tx) => {
      const toBeQueued = await tx.$count(reminders, isNull(reminders.emailQueuedAt));
      return toBeQueued + (await tx.$count(mails, inArray(mails.state, ['queued', 'sending'])));
    });

  /** Records the mails that a dead worker had claimed and the server has accepted. */
  async function recordGap(): Promise<void> {
    const claimed = await across('the soak reads the claims of a dead worker', (tx) =>
      tx.execute<{
        email: string;
      }>(sql`select ${users.email} from ${mails} join ${users} on ${users.id} = ${mails.userId}
        where ${mails.state} = 'sending' and ${mails.dueAt} > now() and ${mails.leaseId} is not null`),
    );
    for (const { email } of claimed.rows) {
      const times = received.get(email)?.length ?? 0;
      if (times > (inTheGap.get(email) ?? 0)) inTheGap.set(email, times);
    }
  }

  try {
    await queueAll(options, runtime);
    options.say(`${options.mails} mails of ${options.tenants} tenants are queued`);
    let kills = 0;
    while (kills < options.kills && (await unsettled()) > 0 && performance.now() < deadline) {
      worker = startWorkerProcess(env);
      // On average a worker sends a good part of its share; the exact instant of the kill is random.
      await mailsAccepted(1 + Math.floor((Math.random() * options.mails) / (options.kills + 1)), worker);
      await pause(Math.random() * 2 * serverDelayMs);
      worker.child.kill('SIGKILL');
      await worker.ended;
      kills += 1;
      // The server still accepts mails that were on the wire when the worker died.
      await pause(serverDelayMs * 3);
      await recordGap();
      if (kills % 10 === 0) options.say(`${kills} kills, ${accepted} mails accepted`);
    }
    worker = startWorkerProcess(env);
    while ((await unsettled()) > 0 && performance.now() < deadline)
      await Promise.race([pause(500), worker.unexpectedEnd]);
    worker.child.kill('SIGTERM');
    await worker.ended;

    const { accounts, untraced } = await across('the soak reads the results', async (tx) => ({
      accounts: await tx.select({ email: users.email }).from(users),
      untraced: await tx.$count(reminders, isNull(reminders.emailSentAt)),
    }));
    const all = [...received.entries()];
    return {
      kills,
      lost: accounts.filter(({ email }) => !received.has(email ?? '')).length,
      repeated: all.reduce((sum, [, copies]) => sum + copies.length - 1, 0),
      inTheGap: [...inTheGap.values()].reduce((sum, times) => sum + times, 0),
      unexplained: all.reduce(
        (sum, [email, copies]) => sum + Math.max(0, copies.length - 1 - (inTheGap.get(email) ?? 0)),
        0,
      ),
      otherMessageId: all.reduce(
        (sum, [, copies]) => sum + new Set(copies.map(({ messageId }) => messageId)).size - 1,
        0,
      ),
      untraced,
    };
  } finally {
    worker?.child.kill('SIGKILL');
    await worker?.ended;
    await runtime.close();
    await smtp.stop();
  }
}

/** Creates one account for each mail, so that the address identifies the mail, and queues the mails. */
async function queueAll({ mails: count, tenants, from }: CrashOptions, { database }: Runtime): Promise<void> {
  const make = builders(database);
  for (let t = 0; t < tenants; t++) {
    const tenant = await make.tenant();
    const accounts = Array.from({ length: Math.ceil((count - t) / tenants) }, () => {
      const id = newId();
      return { id, tenantId: tenant.id, username: id, email: `${id}@example.org` };
    });
    await database.acrossTenants('the soak makes accounts', (tx) => tx.insert(users).values(accounts));
    await database
      .inTenant(tenant.id)
      .tx((tx) => (from === 'outbox' ? queueOutageNotices(tx, accounts) : makeDueReminders(tx, accounts)));
  }
}

type Account = Pick<typeof users.$inferSelect, 'id' | 'tenantId'>;

const queueOutageNotices = (tx: Tx, accounts: Account[]) =>
  queueMails(
    tx,
    passwordChangedMail,
    accounts.map(({ id, tenantId }) => ({
      tenantId,
      key: `soak/${id}`,
      userId: id,
      data: {},
    })),
  );

/** Adds a reminder with a mail for each account, due now. */
export async function makeDueReminders(tx: Tx, accounts: Account[]): Promise<void> {
  await tx.insert(reminders).values(
    accounts.map(({ id, tenantId }) => ({
      id: newId(),
      tenantId,
      userId: id,
      title: 'Soak',
      dueAt: sql`now()`,
      occurrenceId: newId(),
      emailEnabled: true,
    })),
  );
}
