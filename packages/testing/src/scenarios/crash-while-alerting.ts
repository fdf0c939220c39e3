import { setTimeout as pause } from 'node:timers/promises';
import { and, eq, inArray, like, sql } from 'drizzle-orm';
import { mails } from '@portal/db/schema/platform/mails';
import { tenderMatches, unmatchedTenders } from '@portal/db/schema/tenders/matches';
import { savedSearches } from '@portal/db/schema/tenders/saved-searches';
import { newId } from '@portal/domain/ids';
import { TenderFilters } from '@portal/domain/tenders/filters';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { deliverMails } from '@portal/platform/outbox/jobs';
import { openRuntime } from '@portal/platform/runtime';
import { compiledColumns } from '@portal/usecases/tenders/alerts/compile-search';
import { matchTenders, startDueAlerts } from '@portal/usecases/tenders/jobs';
import { storeNotices } from '@portal/usecases/tenders/store-notices';
import { builders } from '../make.ts';
import { startSmtpServer } from '../servers/smtp-server.ts';
import { noticeRecord } from '../tender-notices.ts';
import { startWorkerProcess, type WorkerProcess, workerSettings } from './worker-process.ts';

export interface AlertCrashResult {
  kills: number;
  /** Tenders times people, for each kind of mail. */
  expected: number;
  /** Tenders that each kind of mail reported to people, by the count in its subject; a repeated mail counts once. */
  mailed: { digest: number; instant: number };
  /** Tenders that one person got in two different mails of a kind. */
  doubled: number;
  /** Repeated mails although no worker died between the server’s answer and settling the mail. */
  unexplained: number;
  /** Matches that no mail has reported yet. */
  pending: number;
}

interface CrashOptions {
  databaseUrl: string;
  redisUrl: string | null;
  people: number;
  /** New tenders before each kill. */
  tenders: number;
  kills: number;
  deadlineMs: number;
  say: (line: string) => void;
}

/** The steps at which a worker is killed, in turn. */
const steps = ['stored', 'matched', 'queued', 'transmission', 'message'] as const;

/**
 * Two workers match new tenders, queue mails and send them; the scenario kills one of them with SIGKILL at each step in turn. Every person
 * has two saved searches with instant alerts and one without, and each search matches every tender.
 */
export async function crashWhileAlerting(options: CrashOptions): Promise<AlertCrashResult> {
  const received: { to: string; messageId: string; subject: string; text: string }[] = [];
  let reach: (step: string) => void = () => undefined;
  const smtp = await startSmtpServer({
    delayMs: 20,
    failures: ({ at }) => {
      reach(at);
      return undefined;
    },
    onMessage: ({ envelopeTo, messageId, subject, text }) => {
      received.push({ to: envelopeTo[0] ?? '', messageId, subject, text });
    },
  });
  const env = workerSettings({ ...options, smtpPort: smtp.port });
  const runtime = openRuntime(readConfig(env), { process: 'script', log: openLog('silent', 'script') });
  const system = runtime.system({ requestId: 'soak', ip: null, userAgent: null });
  const make = builders(runtime.database);
  const across = <T>(work: Parameters<typeof system.acrossTenants<T>>[1]) =>
    system.acrossTenants('a crash run advances time and reads the state', work);
  // A run before this one that failed may have left searches and mails, which would count.
  await across(async (tx) => {
    await tx.delete(savedSearches);
    await tx.delete(mails);
  });
  const { id: tenantId } = await make.tenant();
  const filters = TenderFilters.parse({ text: { all: ['kranwartung'] } });
  for (let n = 0; n < options.people; n += 1) {
    const { id: userId } = await make.user({ tenantId, role: 'ADMIN' });
    await across((tx) =>
      tx.insert(savedSearches).values(
        ['eins', 'zwei', 'drei'].map((name) => {
          const owner = { id: newId(), tenantId, userId };
          return { ...owner, name, instantAlert: name !== 'drei', ...compiledColumns(filters) };
        }),
      ),
    );
  }
  const deadline = performance.now() + options.deadlineMs;
  const workers: (WorkerProcess | null)[] = [null, null];
  let [kills, inTheGap, number] = [0, 0, 0];

  const nudge = async () => {
    await system.enqueue(matchTenders, {});
    await system.enqueue(startDueAlerts, {});
    await system.enqueue(deliverMails, { tenantId });
  };
  /** Ages matches by two days and makes today's digests those of an earlier day, so that new ones are due. */
  const letDayPass = () =>
    across(async (tx) => {
      await tx
        .update(tenderMatches)
        .set({ matchedAt: sql`now() - interval '2 days'` })
        // Rows that a worker has locked wait for the next time: waiting for them could be a deadlock.
        .where(
          sql`ctid = any(array(select ctid from ${tenderMatches} where notified_at is null and alert_id is null for update skip locked))`,
        );
      await tx
        .update(mails)
        .set({ key: sql`${mails.key} || '/' || ${newId()}::text` })
        .where(
          and(like(mails.key, 'tenders/digest/____-__-__/%'), eq(mails.state, 'sent'), sql`length(${mails.key}) < 70`),
        );
    });
  const letLeasesEnd = () =>
    across((tx) =>
      tx
        .update(mails)
        .set({ dueAt: sql`now()` })
        .where(inArray(mails.state, ['sending', 'queued'])),
    );
  const counts = () =>
    across(async (tx) => ({
      unmatched: await tx.$count(unmatchedTenders),
      pending: await tx.$count(tenderMatches, sql`notified_at is null`),
      queued: await tx.$count(mails, inArray(mails.state, ['queued', 'sending'])),
    }));

  async function killAt(step: (typeof steps)[number]): Promise<void> {
    const reached = Promise.withResolvers<void>();
    reach = (now) => {
      if (now === step) reached.resolve();
    };
    const isReached = async () => {
      const { unmatched, pending, queued } = await counts();
      return {
        stored: true,
        matched: unmatched === 0 && pending > 0,
        queued: queued > 0,
        transmission: false,
        message: false,
      }[step];
    };
    for (let checks = 0; checks < 400; checks += 1) {
      if (await Promise.race([reached.promise.then(() => true), pause(25, false)])) break;
      if (await isReached()) break;
      if (checks % 20 === 0) {
        await letDayPass();
        await nudge();
      }
    }
    reach = () => undefined;
    const [victim] = workers;
    victim?.child.kill('SIGKILL');
    await victim?.ended;
    workers[0] = null;
    kills += 1;
    inTheGap += await across((tx) => tx.$count(mails, eq(mails.state, 'sending')));
  }

  const stop = async (signal: 'SIGTERM' | 'SIGKILL') => {
    for (const worker of workers) {
      worker?.child.kill(signal);
      await worker?.ended;
    }
  };

  try {
    while (kills < options.kills) {
      for (const at of workers.keys()) workers[at] ??= startWorkerProcess(env);
      const records = Array.from({ length: options.tenders }, () =>
        noticeRecord({ title: `Kranwartung N${(number += 1)}E`, publishedAt: new Date().toISOString() }),
      );
      await storeNotices(system, records);
      await nudge();
      await killAt(steps[kills % steps.length] ?? 'stored');
      await letLeasesEnd();
      options.say(`${kills} kills, ${received.length} mails`);
    }
    for (const at of workers.keys()) workers[at] ??= startWorkerProcess(env);
    for (let quiet = 0; quiet < 2;) {
      if (performance.now() > deadline) break;
      await letDayPass();
      await nudge();
      await pause(400);
      const { unmatched, pending, queued } = await counts();
      quiet = unmatched + pending + queued === 0 ? quiet + 1 : 0;
    }
    await stop('SIGTERM');
    return { kills, expected: number * options.people, ...judge(), pending: (await counts()).pending };
  } finally {
    await stop('SIGKILL');
    await runtime.close();
    await smtp.stop();
  }

  function judge() {
    /** The mails that report a tender, by person, kind and tender. */
    const mailsOf = new Map<string, Set<string>>();
    /** A mail lists a limited number of tenders, but its subject counts all of them. */
    const counted = { digest: new Map<string, number>(), instant: new Map<string, number>() };
    for (const { to, subject, text, messageId } of received) {
      const kind = /^(eins|zwei|drei):/.test(subject) ? 'instant' : 'digest';
      // Digests of days that were advanced have the date of the day before; only a repeat also has the same text.
      const mail = `${messageId} ${text}`;
      counted[kind].set(mail, Number(/(\d+) neue Ausschreibung/.exec(subject)?.[1] ?? 0));
      // Includes the word before it, because the token of a link may contain something like the number.
      for (const [title] of text.matchAll(/Kranwartung N\d+E/g)) {
        const key = `${kind} ${to} ${title}`;
        mailsOf.set(key, (mailsOf.get(key) ?? new Set()).add(mail));
      }
    }
    const tendersIn = (kind: keyof typeof counted) => counted[kind].values().reduce((sum, count) => sum + count, 0);
    const repeats = received.length - counted.digest.size - counted.instant.size;
    return {
      mailed: { digest: tendersIn('digest'), instant: tendersIn('instant') },
      doubled: [...mailsOf.values()].filter(({ size }) => size > 1).length,
      unexplained: Math.max(0, repeats - inTheGap),
    };
  }
}
