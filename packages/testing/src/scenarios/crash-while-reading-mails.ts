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
  /** Broken invariants, one sentence each. */
  violations: string[];
}

/**
 * The steps of a read that are visible from outside: `signing-in`, `opening` the folder, `listing` its mails, `asking` for one of them,
 * `storing` its content or just afterwards. `any` is a random instant.
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
 * Delivers alert mails and kills the reading process with SIGKILL at each of these steps. At the end there is one tender for each mail, and
 * the mailbox is unchanged.
 */
export async function crashWhileReadingMails(options: {
  databaseUrl: string;
  redisUrl: string | null;
  /** Kills at each step. */
  rounds: number;
  /** The real worker, or a program that resumes due work at once. */
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
    const readState = () =>
      runtime.database.acrossTenants('a scenario reads the state', async (tx) => ({
        notices: await tx.select().from(tenderNotices).where(eq(tenderNotices.sourceKey, source)),
        tenders: await tx.$count(personalTenderSearch, eq(personalTenderSearch.onlySource, source)),
        mailbox: the((await tx.select().from(tenderMailboxes))[0]),
        isComplete: (await tx.$count(tenderSources, sql`key = ${source} and last_success_at is not null`)) === 1,
      }));

    for (let round = 0; round < options.rounds; round += 1) {
      for (const step of steps) {
        for (let n = 0; n < 3; n += 1) await dovecot.deliver(user, alertAbout((mails += 1)));
        await becomeDue();
        // After two lost processes a mailbox pauses for an hour.
        const again = setInterval(() => void becomeDue().catch(() => undefined), 300);
        await life.killAt(step).finally(() => clearInterval(again));
        kills += 1;
        options.say(`${kills} kills, the last one ${step}`);
      }
    }
    await becomeDue();
    life.live();
    for (;;) {
      const { mailbox, isComplete } = await readState();
      if (isComplete && mailbox.claim === null && mailbox.lastUid === mails) break;
      if (performance.now() > deadline) throw new Error('the scenario did not finish before its deadline');
      await becomeDue();
      await pause(500);
    }

    const { notices, tenders } = await readState();
    const keys = new Set(notices.map(({ noticeKey }) => noticeKey));
    if (keys.size !== mails) violations.push(`There are notices of ${keys.size} mails instead of ${mails}.`);
    if (notices.length !== keys.size) violations.push(`There are ${notices.length} notices instead of ${keys.size}.`);
    if (tenders !== mails) violations.push(`There are ${tenders} tenders for ${mails} mails.`);
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
