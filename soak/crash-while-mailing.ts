import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inArray, sql } from 'drizzle-orm';
import { mails } from '@portal/db/schema/mails';
import { users } from '@portal/db/schema/users';
import { builders } from '@portal/db/testing/make';
import { newId } from '@portal/domain/ids';
import { type ReceivedMail, startSmtpServer } from '@portal/mail/testing/smtp-server';
import { queueMail } from '@portal/usecases/mails/queue-mail';
import { readConfig } from '@portal/usecases/run/config';
import { openLog } from '@portal/usecases/run/log';
import { openRuntime, type Runtime } from '@portal/usecases/run/runtime';

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
}

interface CrashOptions {
  databaseUrl: string;
  redisUrl: string | null;
  mails: number;
  /** Each drains its own outbox, ten mails at a time. */
  tenants: number;
  kills: number;
  deadlineMs: number;
  say: (line: string) => void;
}

const workerProgram = fileURLToPath(new URL('../apps/worker/src/main.ts', import.meta.url));
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
  const env = {
    DATABASE_URL: options.databaseUrl,
    ...(options.redisUrl === null ? {} : { REDIS_URL: options.redisUrl }),
    SESSION_SECRET: `soak:${Buffer.alloc(32).toString('base64')}`,
    SECRETS_KEYS: `soak:${Buffer.alloc(32, 1).toString('base64')}`,
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: `${smtp.port}`,
    SMTP_SECURITY: 'none',
    SMTP_FROM: 'portal@example.org',
    LOG_LEVEL: 'silent',
  };
  const runtime = openRuntime(readConfig(env), { process: 'script', log: openLog('silent', 'script') });
  const across = runtime.database.acrossTenants;
  const inTheGap = new Map<string, number>();
  const deadline = performance.now() + options.deadlineMs;
  let worker: Started | null = null;

  /** Resolves when the server has taken so many more mails, or when none are left to take. */
  async function mailsTaken(count: number, life: Started): Promise<void> {
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
    across('the soak counts what is left', (tx) => tx.$count(mails, inArray(mails.state, ['queued', 'sending'])));

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
    await queueAll(options, runtime);
    options.say(`${options.mails} mails of ${options.tenants} tenants are queued`);
    let kills = 0;
    while (kills < options.kills && (await unsettled()) > 0 && performance.now() < deadline) {
      worker = start(env);
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
    worker = start(env);
    while ((await unsettled()) > 0 && performance.now() < deadline)
      await Promise.race([pause(500), worker.endedByItself]);
    worker.child.kill('SIGTERM');
    await worker.ended;

    const sent = await across('the soak looks at what was promised', (tx) =>
      tx.execute<{ email: string }>(
        sql`select ${users.email} from ${mails} join ${users} on ${users.id} = ${mails.userId}`,
      ),
    );
    const all = [...received.entries()];
    return {
      kills,
      lost: sent.rows.filter(({ email }) => !received.has(email)).length,
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
    };
  } finally {
    worker?.child.kill('SIGKILL');
    await worker?.ended;
    await runtime.close();
    await smtp.stop();
  }
}

interface Started {
  child: ChildProcess;
  ended: Promise<unknown>;
  /** Rejects when it ended without having been told to. */
  endedByItself: Promise<never>;
}

/** The channel ends with this process, and with it the worker. */
function start(env: Record<string, string>): Started {
  const child = spawn(process.execPath, [workerProgram], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const endedByItself = ended.then(([code]) => {
    throw new Error(`the worker ended by itself with code ${String(code)}`);
  });
  // Looked at only while the worker is meant to run.
  endedByItself.catch(() => undefined);
  return { child, ended, endedByItself };
}

/** One account and one mail each, so that the address tells which mail a message is. */
async function queueAll({ mails: count, tenants }: CrashOptions, { database }: Runtime): Promise<void> {
  const make = builders(database);
  for (let t = 0; t < tenants; t++) {
    const tenant = await make.tenant();
    const accounts = Array.from({ length: Math.ceil((count - t) / tenants) }, () => {
      const id = newId();
      return { id, tenantId: tenant.id, username: id, email: `${id}@example.org` };
    });
    await database.acrossTenants('the soak makes accounts', (tx) => tx.insert(users).values(accounts));
    await database.inTenant(tenant.id).tx(async (tx) => {
      for (const { id, tenantId } of accounts) {
        await queueMail(tx, { tenantId, kind: 'accounts/password-changed', key: `soak/${id}`, userId: id, data: {} });
      }
    });
  }
}
