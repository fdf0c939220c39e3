import { setTimeout as pause } from 'node:timers/promises';
import { and, asc, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import { cloudInstances, cloudSubscriptions } from '@portal/db/schema/cloud-status/instances';
import { cloudOutages, cloudTransitions } from '@portal/db/schema/cloud-status/outages';
import { moduleGrants } from '@portal/db/schema/modules';
import { mails } from '@portal/db/schema/platform/mails';
import { newId } from '@portal/domain/ids';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { deliverMails } from '@portal/platform/outbox/jobs';
import { openRuntime } from '@portal/platform/runtime';
import { checkDueInstances } from '@portal/usecases/cloud-status/jobs';
import { builders } from '../make.ts';
import { brokenCloud, startCloudServer, statusDocument } from '../servers/cloud-server.ts';
import { startSmtpServer } from '../servers/smtp-server.ts';
import { startWorkerProcess, type WorkerProcess, workerSettings } from './worker-process.ts';

export interface WatchCrashResult {
  kills: number;
  /** Kills by the step the worker was at. */
  killsAt: Record<string, number>;
  /** Outages that began and ended, times the subscribers. */
  expected: number;
  /** Mails that arrived about a beginning and about an end, each counted once. */
  mailed: { begun: number; ended: number };
  /** Deliveries of a mail beyond the first that SMTP’s gap does not explain. */
  unexplained: number;
  /** Deliveries of a mail beyond the first; SMTP’s gap explains those that a dead worker had not settled. */
  inTheGap: number;
  otherMessageId: number;
  /** Broken invariants, one sentence each. */
  violations: string[];
}

interface CrashOptions {
  databaseUrl: string;
  redisUrl: string | null;
  instances: number;
  people: number;
  rounds: number;
  deadlineMs: number;
  say: (line: string) => void;
}

/**
 * The steps from a due check to a settled mail that are visible from outside: `asked` (a cloud has a request and has not answered),
 * `answered` (the worker stores the check), `connected` (the worker is about to send a mail), `taken` (the mail server has the mail, but
 * the worker has no answer). `any` is a random instant of the run.
 */
const steps = ['asked', 'answered', 'connected', 'taken', 'any'] as const;
type Step = (typeof steps)[number];

/**
 * Lets clouds fail and recover in each round, and kills the real worker with SIGKILL at each of these steps. Each subscriber must still get
 * one mail when an outage begins and one when it ends.
 */
export async function crashWhileWatching(options: CrashOptions): Promise<WatchCrashResult> {
  let reach: (step: Step) => void | Promise<void> = () => undefined;
  let isDown = false;
  let round = 0;
  const cloud = await startCloudServer();
  cloud.answer = async () => {
    await reach('asked');
    // Just after the answer is sent.
    setTimeout(() => void reach('answered'), 1);
    return isDown ? brokenCloud : statusDocument();
  };
  const received = new Map<string, { copies: number; messageIds: Set<string> }>();
  const smtp = await startSmtpServer({
    failures: ({ at }) => {
      if (at === 'recipient') void reach('connected');
      return undefined;
    },
    onMessage: async ({ envelopeTo, subject, messageId }) => {
      // In each round each cloud fails once and recovers once.
      const key = `${subject} to ${envelopeTo[0] ?? ''} in round ${round}`;
      const mail = received.get(key) ?? { copies: 0, messageIds: new Set() };
      received.set(key, { copies: mail.copies + 1, messageIds: mail.messageIds.add(messageId) });
      await reach('taken');
    },
  });
  const env = workerSettings({ ...options, smtpPort: smtp.port });
  const runtime = openRuntime(readConfig(env), { process: 'script', log: openLog('silent', 'script') });
  const deadline = performance.now() + options.deadlineMs;
  const killsAt: Record<string, number> = {};
  const gaps = new Map<string, number>();
  const violations: string[] = [];
  let worker = null as WorkerProcess | null;
  let kills = 0;
  let nextStep = 0;

  try {
    const make = builders(runtime.database);
    const { id: tenantId } = await make.tenant();
    const { tx, read } = runtime.database.inTenant(tenantId);
    const { enqueue } = runtime.tenant({ requestId: 'soak', ip: null, userAgent: null }, tenantId);
    const people = await Promise.all(Array.from({ length: options.people }, () => make.user({ tenantId })));
    const clouds = await Promise.all(
      Array.from({ length: options.instances }, (_, n) =>
        make.cloudInstance(tenantId, { customerName: `Kunde ${n}`, statusUrl: `${cloud.origin}/${n}` }),
      ),
    );
    await tx(async (db) => {
      await db.insert(moduleGrants).values(
        people.map(({ id: userId }) => ({
          id: newId(),
          tenantId,
          userId,
          moduleKey: 'cloud-status',
          level: 'USE' as const,
        })),
      );
      await db
        .insert(cloudSubscriptions)
        .values(
          clouds.flatMap((each) => people.map((person) => ({ tenantId, instanceId: each.id, userId: person.id }))),
        );
    });

    /** Queues the due work, as the sweeps do. */
    async function nudge(): Promise<void> {
      await enqueue(checkDueInstances, { tenantId });
      await enqueue(deliverMails, { tenantId });
    }

    /** Expires the leases of a dead worker at once. */
    const letLeasesEnd = () =>
      tx(async (db) => {
        await db
          .update(cloudInstances)
          .set({ leaseId: null, leasedUntil: null })
          .where(isNotNull(cloudInstances.leasedUntil));
        await db
          .update(mails)
          .set({ dueAt: sql`now()` })
          .where(eq(mails.state, 'sending'));
      });

    const isQuiet = async (): Promise<boolean> =>
      read(async (db) => {
        const dueChecks = await db.$count(cloudInstances, sql`${cloudInstances.nextCheckAt} <= now()`);
        const openMails = await db.$count(mails, inArray(mails.state, ['queued', 'sending']));
        return dueChecks === 0 && openMails === 0;
      });

    /** Kills the worker at a step, and records the mails it had claimed. */
    async function killAt(step: Step): Promise<void> {
      const life = (worker ??= startWorkerProcess(env));
      const reached = Promise.withResolvers<void>();
      let isKilled = false;
      const kill = async () => {
        isKilled = true;
        life.child.kill('SIGKILL');
        await life.ended;
        reached.resolve();
      };
      if (step === 'any') void pause(Math.random() * 1_500).then(kill);
      else {
        // Skips fewer occurrences than are certain: each cloud gets one request and answers once.
        let toPass = Math.floor(Math.random() * Math.min(3, options.instances));
        reach = async (now) => {
          if (now !== step || toPass-- > 0) return;
          reach = () => undefined;
          await kill();
        };
      }
      // The step may not occur again in this part of the round.
      for (let waited = 0; waited < 100; waited += 1) {
        if (await Promise.race([reached.promise.then(() => true), pause(100, false)])) break;
        if (step !== 'any' && (await isQuiet())) break;
      }
      reach = () => undefined;
      if (!isKilled) return;
      // On a busy machine the process may end some time after the signal.
      await life.ended;
      worker = null;
      kills += 1;
      killsAt[step] = (killsAt[step] ?? 0) + 1;
      const claimed = await read((db) => db.select({ key: mails.key }).from(mails).where(eq(mails.state, 'sending')));
      for (const { key } of claimed) gaps.set(key, (gaps.get(key) ?? 0) + 1);
      await letLeasesEnd();
    }

    /** Runs the worker until every due check is done and every mail is settled. */
    async function settle(): Promise<void> {
      while (!(await isQuiet())) {
        if (performance.now() > deadline) throw new Error('the round did not end before the deadline');
        const life = (worker ??= startWorkerProcess(env));
        await nudge();
        await Promise.race([pause(400), life.unexpectedEnd]);
      }
    }

    const failuresOf = () =>
      read((db) =>
        db.$count(
          cloudInstances,
          and(eq(cloudInstances.reportedState, 'failed'), eq(cloudInstances.lastCheckState, 'failed')),
        ),
      );
    for (; round < options.rounds; round += 1) {
      for (const down of [true, true, false]) {
        isDown = down;
        await tx((db) => db.update(cloudInstances).set({ nextCheckAt: sql`now()` }));
        for (let life = 0; life < 2; life += 1) {
          await nudge();
          await killAt(steps[nextStep++ % steps.length] ?? 'any');
        }
        await settle();
      }
      if ((await failuresOf()) > 0) violations.push(`after round ${round} a cloud is still reported as failed`);
      options.say(`round ${round + 1} of ${options.rounds}, ${kills} kills, ${received.size} mails`);
    }
    worker?.child.kill('SIGTERM');
    await worker?.ended;

    const outages = await read((db) => db.select().from(cloudOutages).orderBy(asc(cloudOutages.reportedAt)));
    const transitions = await read((db) => db.$count(cloudTransitions));
    const open = await read((db) => db.$count(cloudOutages, isNull(cloudOutages.endedAt)));
    const expected = options.instances * options.rounds * options.people;
    if (outages.length !== options.instances * options.rounds)
      violations.push(`${outages.length} outages instead of ${options.instances * options.rounds}`);
    if (transitions !== 2 * outages.length) violations.push(`${transitions} transitions for ${outages.length} outages`);
    if (open > 0) violations.push(`${open} outages are still open`);
    const copies = [...received.values()];
    const mailsAbout = (start: string) => [...received.keys()].filter((subject) => subject.startsWith(start)).length;
    const repeats = copies.reduce((sum, mail) => sum + mail.copies - 1, 0);
    const inTheGap = [...gaps.values()].reduce((sum, times) => sum + times, 0);
    return {
      kills,
      killsAt,
      expected,
      mailed: { begun: mailsAbout('Cloud gestört'), ended: mailsAbout('Cloud wieder da') },
      unexplained: Math.max(0, repeats - inTheGap),
      inTheGap: repeats,
      otherMessageId: copies.reduce((sum, mail) => sum + mail.messageIds.size - 1, 0),
      violations,
    };
  } finally {
    worker?.child.kill('SIGKILL');
    await worker?.ended;
    await runtime.close();
    await smtp.stop();
    await cloud.stop();
  }
}
