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
  /** Mails nobody received. */
  lost: number;
  /** Receptions beyond the first of a mail. */
  repeated: number;
  /** Mails the server had taken and the worker had not settled when it was killed: the one gap SMTP leaves. */
  inTheGap: number;
  /** Repeats of mails that were not in that gap. */
  unexplained: number;
  otherMessageId: number;
  /** Reminders that do not show that their mail was sent. */
  untraced: number;
}

interface CrashOptions {
  databaseUrl: string;
  redisUrl: string | null;
  /** What promises the mails: the outbox itself, or reminders that are due. */
  from: 'outbox' | 'reminders';
  mails: number;
  /** Each has an outbox of its own, drained forty mails at a time. */
  tenants: number;
  kills: number;
  deadlineMs: number;
  say: (line: string) => void;
}

/** What the mail server takes for each message, so that a kill meets mails in every state. */
const serverDelayMs = 30;

/** Sends mails through the real worker process and an SMTP server, killing the worker with SIGKILL again and again. */
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

  /** Resolves when the server has taken so many more mails, or when none are left to take. */
  async function mailsTaken(count: number, life: WorkerProcess): Promise<void> {
    const target = accepted + count;
    while (accepted < target && performance.now() < deadline && (await unsettled()) > 0) {
      await Promise.race([
        life.endedByItself,
        new Promise<void>((resolve) => {
          onAccepted = () => (accepted >= target ? resolve() : undefined);
        }),
        pause(1_000),
      ]);
    }
  }

  const unsettled = (): Promise<number> =>
    across('the soak counts what is left', async (tx) => {
      const toBePromised = await tx.$count(reminders, isNull(reminders.emailQueuedAt));
      return toBePromised + (await tx.$count(mails, inArray(mails.state, ['queued', 'sending'])));
    });

  /** Which of the mails a dead worker held the server has taken nevertheless. */
  async function noteGap(): Promise<void> {
    const held = await across('the soak looks at what a dead worker held', (tx) =>
      tx.execute<{
        email: string;
      }>(sql`select ${users.email} from ${mails} join ${users} on ${users.id} = ${mails.userId}
        where ${mails.state} = 'sending' and ${mails.dueAt} > now() and ${mails.leaseId} is not null`),
    );
    for (const { email } of held.rows) {
      const times = received.get(email)?.length ?? 0;
      if (times > (inTheGap.get(email) ?? 0)) inTheGap.set(email, times);
    }
  }

  try {
    await promiseAll(options, runtime);
    options.say(`${options.mails} mails of ${options.tenants} tenants are promised`);
    let kills = 0;
    while (kills < options.kills && (await unsettled()) > 0 && performance.now() < deadline) {
      worker = startWorkerProcess(env);
      // On average a life sends a good part of its share; the last instants before the kill are left to chance.
      await mailsTaken(1 + Math.floor((Math.random() * options.mails) / (options.kills + 1)), worker);
      await pause(Math.random() * 2 * serverDelayMs);
      worker.child.kill('SIGKILL');
      await worker.ended;
      kills += 1;
      // What was on the wire when the worker died, the server still takes.
      await pause(serverDelayMs * 3);
      await noteGap();
      if (kills % 10 === 0) options.say(`${kills} kills, ${accepted} mails taken`);
    }
    worker = startWorkerProcess(env);
    while ((await unsettled()) > 0 && performance.now() < deadline)
      await Promise.race([pause(500), worker.endedByItself]);
    worker.child.kill('SIGTERM');
    await worker.ended;

    const { accounts, untraced } = await across('the soak looks at what was promised', async (tx) => ({
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

/** One account and one mail each, so that the address tells which mail a message is. */
async function promiseAll({ mails: count, tenants, from }: CrashOptions, { database }: Runtime): Promise<void> {
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

/** Has a reminder with a mail be due now for each. */
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
