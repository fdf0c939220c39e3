import { setTimeout as pause } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { tenderNotices } from '@portal/db/schema/tenders/notices';
import { personalTenderSearch } from '@portal/db/schema/tenders/search';
import { tenderSources } from '@portal/db/schema/tenders/sources';
import { mailboxSource } from '@portal/domain/tenders/sources';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import { putAlertMailbox } from '@portal/usecases/tenders/mailbox/mailbox';
import { alertMailboxForm, grantTenderRadar } from '../alert-mailboxes.ts';
import { alertAbout } from '../alert-mails.ts';
import { builders } from '../make.ts';
import { startDovecot } from '../servers/dovecot.ts';
import { openImapGate } from '../servers/imap-gate.ts';
import { the } from '../the.ts';
import { killedAtSteps } from './kill-at-steps.ts';
import { startProgram, startWorkerProcess, workerSettings } from './worker-process.ts';

export interface ReadingCrashResult {
  kills: number;
  mails: number;
  /** What must not be, one sentence each. */
  violations: string[];
}

/**
 * The points a reading passes, each seen from outside: `signing-in`, `opening` the folder, `listing` its mails, `asking` for one of them,
 * `storing` what it says or just having done so. Between them, a random instant.
 */
export const readingSteps = ['signing-in', 'opening', 'listing', 'asking', 'storing', 'any'] as const;
export type ReadingStep = (typeof readingSteps)[number];

const stepOf: [ReadingStep, RegExp][] = [
  ['signing-in', /AUTHENTICATE|LOGIN/],
  ['opening', /EXAMINE/],
  ['listing', /SEARCH/],
  ['asking', /BODY\.PEEK\[\]/],
];

const program = 'packages/testing/src/scenarios/alert-mails-program.ts';
const user = 'ada';

/**
 * Lets alert mails come in and kills whoever reads them with SIGKILL at each of these steps. In the end there is one tender for each mail,
 * and the mailbox is as it was.
 */
export async function crashWhileReadingMails(options: {
  databaseUrl: string;
  redisUrl: string | null;
  /** How often each step is killed at. */
  rounds: number;
  /** The real worker; or a program that takes up at once what is due. */
  life: 'worker' | 'program';
  steps?: readonly ReadingStep[];
  deadlineMs: number;
  say: (line: string) => void;
}): Promise<ReadingCrashResult> {
  const { steps = readingSteps } = options;
  const dovecot = await startDovecot();
  const gate = await openImapGate(dovecot);
  const env = { ...workerSettings({ ...options, smtpPort: 9 }), OUTBOUND_ALLOW_HOSTS: '127.0.0.1' };
  const runtime = openRuntime(readConfig(env), { process: 'script', log: openLog('silent', 'script') });
  const deadline = performance.now() + options.deadlineMs;
  const violations: string[] = [];
  let kills = 0;
  let mails = 0;
  const start = () => (options.life === 'worker' ? startWorkerProcess(env) : startProgram(program, env));
  const life = killedAtSteps<ReadingStep>({ start, maxMs: 2_000, deadline });
  gate.onCommand = async (line) => {
    const [step] = stepOf.find(([, pattern]) => pattern.test(line)) ?? [];
    if (step === undefined) return;
    await life.reach(step);
    if (step === 'asking') setTimeout(() => void life.reach('storing'), 5 + Math.random() * 150);
  };

  try {
    const make = builders(runtime.database);
    const reader = await make.user({});
    const session = await make.session(reader);
    const system = runtime.system({ requestId: 'soak', ip: null, userAgent: null });
    const token = sessionTokens(system).issue({ sub: reader.id, tid: reader.tenantId, sid: session.id, ver: 1 });
    const ctx = await authenticate(system, token);
    await grantTenderRadar(ctx, reader.id);
    await dovecot.makeFolder(user, 'INBOX');
    await putAlertMailbox(ctx, alertMailboxForm({ ...gate, password: dovecot.password }, user));

    const source = mailboxSource(reader.id);
    const becomeDue = () => ctx.tx((tx) => tx.update(tenderMailboxes).set({ nextFetchAt: sql`now()` }));
    const look = () =>
      runtime.database.acrossTenants('a scenario looks', async (tx) => ({
        notices: await tx.select().from(tenderNotices).where(eq(tenderNotices.sourceKey, source)),
        tenders: await tx.$count(personalTenderSearch, eq(personalTenderSearch.onlySource, source)),
        mailbox: the((await tx.select().from(tenderMailboxes))[0]),
        isComplete: (await tx.$count(tenderSources, sql`key = ${source} and last_success_at is not null`)) === 1,
      }));

    for (let round = 0; round < options.rounds; round += 1) {
      for (const step of steps) {
        for (let n = 0; n < 3; n += 1) await dovecot.deliver(user, alertAbout((mails += 1)));
        await becomeDue();
        // A mailbox whose readings lost two processes rests for an hour.
        const again = setInterval(() => void becomeDue().catch(() => undefined), 300);
        await life.killAt(step).finally(() => clearInterval(again));
        kills += 1;
        options.say(`${kills} kills, the last one ${step}`);
      }
    }
    await becomeDue();
    life.live();
    for (;;) {
      const { mailbox, isComplete } = await look();
      if (isComplete && mailbox.claim === null && mailbox.lastUid === mails) break;
      if (performance.now() > deadline) throw new Error('there was no time left to come to the end');
      await becomeDue();
      await pause(500);
    }

    const { notices, tenders } = await look();
    const keys = new Set(notices.map(({ noticeKey }) => noticeKey));
    if (keys.size !== mails) violations.push(`There are notices of ${keys.size} mails of ${mails}.`);
    if (notices.length !== keys.size) violations.push(`There are ${notices.length} notices of ${keys.size}.`);
    if (tenders !== mails) violations.push(`There are ${tenders} tenders of ${mails} mails.`);
    const flags = (await dovecot.mails(user)).map((mail) => mail.flags.replace('recent', ''));
    if (flags.length !== mails || flags.some((flag) => flag !== '')) violations.push('The mailbox was changed.');
    return { kills, mails, violations };
  } finally {
    await life.end();
    await runtime.close();
    await gate.stop();
    await dovecot.stop();
  }
}
