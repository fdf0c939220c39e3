import { setTimeout as pause } from 'node:timers/promises';
import { inArray, isNull, sql } from 'drizzle-orm';
import { smtpConfigs } from '@portal/db/schema/mail-settings';
import { mails } from '@portal/db/schema/platform/mails';
import { reminders } from '@portal/db/schema/reminders';
import { PortalError } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { HOUR, SECOND } from '@portal/domain/time';
import { readConfig } from '@portal/platform/config';
import type { UserContext } from '@portal/platform/context';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import { listNotices } from '@portal/usecases/reminders/notices';
import { deleteReminder, snoozeReminder, updateReminder } from '@portal/usecases/reminders/reminders';
import { builders } from '../make.ts';
import { startSmtpServer } from '../servers/smtp-server.ts';
import { startWorkerProcess, workerSettings } from './worker-process.ts';

interface RaceOptions {
  databaseUrl: string;
  /** Minimum total of edits, snoozes and deletions. */
  calls: number;
  /** Reminders that become due at the same instant. */
  together: number;
  people: number;
  deadlineMs: number;
  say: (line: string) => void;
}

export interface RaceResult {
  calls: number;
  /** Number of calls by kind and code of the answer. */
  answers: Record<string, number>;
  /** Broken invariants, one sentence each. */
  violations: string[];
}

type Kind = 'edit' | 'snooze' | 'delete';
interface Call {
  kind: Kind;
  /** `OK` or the code of the refusal. */
  answer: string;
  endedAt: number;
}

/** A reminder of the race with the calls to it. */
interface Runner {
  id: string;
  occurrenceId: string;
  title: string;
  dueAt: Date;
  ctx: UserContext;
  calls: Call[];
}

// Every combination of calls to a reminder at its due time; most get one.
const fates: Kind[][] = [
  ['edit'],
  ['edit'],
  ['snooze'],
  ['snooze'],
  ['delete'],
  ['edit', 'snooze'],
  ['edit', 'delete'],
  ['snooze', 'delete'],
  ['edit', 'edit', 'snooze', 'delete'],
];
/** Calls begin at most this long before or after the due time. */
const spreadMs = 250;
const leadMs = 1_500;

/** New due times, too far away to become due again during the race. */
const editedTo = new Date(Date.now() + 1_000 * HOUR);
const snoozedTo = new Date(Date.now() + 2_000 * HOUR);

/** Edits, snoozes and deletes reminders when they become due, while a worker mails them and their owners request notices. */
export async function raceReminders(options: RaceOptions): Promise<RaceResult> {
  const mailed = new Map<string, number>();
  const smtp = await startSmtpServer({
    onMessage: ({ subject }) => void mailed.set(subject, (mailed.get(subject) ?? 0) + 1),
  });
  const env = workerSettings({ databaseUrl: options.databaseUrl, redisUrl: null, smtpPort: smtp.port });
  const runtime = openRuntime(readConfig({ ...env, DATABASE_POOL_MAX: '20' }), {
    process: 'script',
    log: openLog('silent', 'script'),
  });
  const across = runtime.database.acrossTenants;
  const worker = startWorkerProcess(env);
  const deadline = performance.now() + options.deadlineMs;
  try {
    const people = await Promise.all(Array.from({ length: options.people }, () => signIn(runtime, smtp.port)));
    const watches = people.map(watchNotices);
    const runners: Runner[] = [];
    let calls = 0;
    while (calls < options.calls && performance.now() < deadline) {
      const wave = await makeWave(options, people, runtime);
      await Promise.all(wave.map(runFate));
      runners.push(...wave);
      calls += wave.reduce((sum, runner) => sum + runner.calls.length, 0);
      options.say(`${calls} calls`);
    }
    const left = () =>
      across('the soak counts what is left', async (tx) => {
        const isToCome = sql`${reminders.dueAt} <= now() and ${isNull(reminders.emailQueuedAt)}`;
        const toBeQueued = await tx.$count(reminders, isToCome);
        return toBeQueued + (await tx.$count(mails, inArray(mails.state, ['queued', 'sending'])));
      });
    while ((await left()) > 0 && performance.now() < deadline)
      await Promise.race([pause(SECOND / 4), worker.unexpectedEnd]);
    const seen = new Map((await Promise.all(watches.map((watch) => watch.stop()))).flatMap((one) => [...one]));
    const listed = new Map<string, number>();
    for (const ctx of people) {
      for (const { id } of (await listNotices(ctx, undefined)).notices) listed.set(id, (listed.get(id) ?? 0) + 1);
    }
    const rows = new Map(
      (await across('the soak reads the reminders', (tx) => tx.select().from(reminders))).map((row) => [row.id, row]),
    );
    const answers: Record<string, number> = {};
    for (const { kind, answer } of runners.flatMap((runner) => runner.calls)) {
      answers[`${kind} ${answer}`] = (answers[`${kind} ${answer}`] ?? 0) + 1;
    }
    const violations = runners.flatMap((runner) =>
      judge(runner, {
        row: rows.get(runner.id),
        mails: mailed.get(`Erinnerung: ${runner.title}`) ?? 0,
        notices: listed.get(runner.occurrenceId) ?? 0,
        seen: seen.get(runner.occurrenceId) ?? 0,
      }),
    );
    return { calls, answers, violations };
  } finally {
    worker.child.kill('SIGTERM');
    await worker.ended;
    await runtime.close();
    await smtp.stop();
  }
}

/** Signs in an account of a new tenant. The tenant has its own mail server, because the service's one limits the mails of a day. */
async function signIn(runtime: ReturnType<typeof openRuntime>, smtpPort: number): Promise<UserContext> {
  const make = builders(runtime.database);
  const user = await make.user();
  await runtime.database.inTenant(user.tenantId).tx((tx) =>
    tx.insert(smtpConfigs).values({
      id: newId(),
      tenantId: user.tenantId,
      host: '127.0.0.1',
      port: smtpPort,
      security: 'none',
      fromAddress: 'portal@example.org',
    }),
  );
  const session = await make.session(user);
  const system = runtime.system({ requestId: newId(), ip: null, userAgent: null });
  const token = sessionTokens(system).issue({ sub: user.id, tid: user.tenantId, sid: session.id, ver: 1 });
  return authenticate(system, token);
}

/** Requests notices repeatedly, as a client does, and counts how often each one came. */
function watchNotices(ctx: UserContext): { stop(): Promise<Map<string, number>> } {
  const seen = new Map<string, number>();
  let since: Date | undefined;
  let isStopping = false;
  const ask = async () => {
    const { notices, until } = await untilAvailable(() => listNotices(ctx, since));
    for (const { id } of notices) seen.set(id, (seen.get(id) ?? 0) + 1);
    since = until;
  };
  const watching = (async () => {
    while (!isStopping) {
      await ask();
      await pause(50 + Math.random() * 100);
    }
    await ask();
  })();
  watching.catch(() => undefined);
  return {
    async stop() {
      isStopping = true;
      await watching;
      return seen;
    },
  };
}

/** Creates reminders that become due together in a moment. */
async function makeWave(
  { together }: RaceOptions,
  people: UserContext[],
  { database }: ReturnType<typeof openRuntime>,
): Promise<Runner[]> {
  for (let aheadMs = leadMs; ; aheadMs *= 2) {
    const dueAt = new Date(Date.now() + aheadMs);
    const wave = Array.from({ length: together }, (_, n) => {
      const ctx = people[n % people.length];
      if (!ctx) throw new Error('there are no people');
      const id = newId();
      return { id, occurrenceId: newId(), title: id, dueAt, ctx, calls: [] };
    });
    const rows = wave.map(({ ctx, id, occurrenceId, title }) => ({
      id,
      occurrenceId,
      title,
      dueAt,
      tenantId: ctx.tenantId,
      userId: ctx.actor.id,
      emailEnabled: true,
    }));
    await database.acrossTenants('the soak makes reminders', (tx) => tx.insert(reminders).values(rows));
    if (Date.now() < dueAt.getTime() - 2 * spreadMs) return wave;
    // Too late: rows that bypass the use cases must exist before they are due.
    const ids = rows.map(({ id }) => id);
    await database.acrossTenants('the soak deletes late reminders', (tx) =>
      tx.delete(reminders).where(inArray(reminders.id, ids)),
    );
  }
}

async function runFate(runner: Runner): Promise<void> {
  const fate = fates[Math.floor(Math.random() * fates.length)] ?? [];
  await Promise.all(
    fate.map(async (kind) => {
      await pause(Math.max(0, runner.dueAt.getTime() - Date.now() + (Math.random() * 2 - 1) * spreadMs));
      const answer = await untilAvailable(() => perform[kind](runner.ctx, runner.id)).then(
        () => 'OK',
        (error: unknown) => {
          if (error instanceof PortalError) return error.code;
          throw error;
        },
      );
      runner.calls.push({ kind, answer, endedAt: Date.now() });
    }),
  );
}

/** On a busy machine a call may get no connection in time. It has had no effect then and is repeated. */
async function untilAvailable<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof PortalError) || error.kind !== 'unavailable') throw error;
    }
  }
}

const perform: Record<Kind, (ctx: UserContext, id: string) => Promise<unknown>> = {
  edit: (ctx, id) => updateReminder(ctx, id, { dueAt: editedTo }),
  snooze: (ctx, id) => snoozeReminder(ctx, id, { until: snoozedTo }),
  delete: deleteReminder,
};

interface Traces {
  row: typeof reminders.$inferSelect | undefined;
  /** Mails for the original due time; the new due times are too far away for mails. */
  mails: number;
  /** Its notices in the list, and how often its owner got one by polling. */
  notices: number;
  seen: number;
}

/** Violations in the final state of a reminder, given the answers to its calls. */
function judge({ id, dueAt, calls }: Runner, { row, mails: sent, notices, seen }: Traces): string[] {
  const wrong: string[] = [];
  const check = (isRight: boolean, what: string) => {
    if (!isRight) wrong.push(`${id}: ${what} (${calls.map(({ kind, answer }) => `${kind} ${answer}`).join(', ')})`);
  };
  const won = (kind: Kind) => calls.some((call) => call.kind === kind && call.answer === 'OK');
  const deletion = calls.find(({ kind }) => kind === 'delete');
  const expected: Record<Kind, string[]> = {
    edit: ['OK', 'REMINDER_DUE', ...(deletion ? ['NOT_FOUND'] : [])],
    snooze: ['OK', 'REMINDER_NOT_DUE', ...(deletion ? ['NOT_FOUND'] : [])],
    delete: ['OK'],
  };
  for (const { kind, answer } of calls) check(expected[kind].includes(answer), `${kind} was answered ${answer}`);
  check(sent <= 1, `it was mailed ${sent} times`);
  check(seen <= 1, `its owner saw it ${seen} times`);

  if (deletion) {
    check(row === undefined, 'it was deleted and still exists');
    check(notices === 0, 'it was deleted and has a notice');
    if (deletion.endedAt < dueAt.getTime())
      check(sent + seen === 0, 'it was deleted before its due time and became due');
    return wrong;
  }
  if (!row) return [...wrong, `${id}: it is missing`];
  const becameDue = won('snooze') || !won('edit');
  check(notices === (becameDue ? 1 : 0), `it has ${notices} notices`);
  check(seen === notices, `its owner saw ${seen} of ${notices} notices`);
  if (!becameDue) check(sent === 0, 'it was edited before its due time and mailed');
  const expectedDueAt = won('edit') ? editedTo : won('snooze') ? snoozedTo : dueAt;
  check(row.dueAt.getTime() === expectedDueAt.getTime(), `its due time is ${row.dueAt.toISOString()}`);
  const isUntouched = !won('edit') && !won('snooze');
  if (isUntouched) check(sent === 1, `it became due and was mailed ${sent} times`);
  check(row.emailAttempts === (isUntouched ? 1 : 0), `it shows ${row.emailAttempts} attempts`);
  check((row.emailSentAt !== null) === isUntouched, 'its mail status does not fit its due time');
  return wrong;
}
