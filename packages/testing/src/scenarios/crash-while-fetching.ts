import { createHash } from 'node:crypto';
import { mkdirSync, watch } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { asc, sql } from 'drizzle-orm';
import { invoiceFiles, invoiceMailboxes, invoices } from '@portal/db/schema/invoices';
import { runs } from '@portal/db/schema/platform/operations';
import { readConfig } from '@portal/platform/config';
import { sweepOrphanFiles } from '@portal/platform/files/sweep-orphans';
import { openLog } from '@portal/platform/log';
import { isUnfinished } from '@portal/platform/runs/unfinished';
import { openRuntime } from '@portal/platform/runtime';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import { putInvoiceMailbox } from '@portal/usecases/invoices/mailbox';
import { mailboxForm, mailWith, ublInvoice } from '../invoices.ts';
import { builders } from '../make.ts';
import { plainPdf } from '../pdf.ts';
import { startDovecot } from '../servers/dovecot.ts';
import { openImapGate } from '../servers/imap-gate.ts';
import { killedAtSteps } from './kill-at-steps.ts';
import { startProgram, startWorkerProcess, workerSettings } from './worker-process.ts';

export interface FetchCrashResult {
  kills: number;
  /** Kills by the step the fetch was at. */
  killsAt: Record<string, number>;
  documents: number;
  /** Broken invariants, one sentence each. */
  violations: string[];
}

interface CrashOptions {
  databaseUrl: string;
  redisUrl: string | null;
  /** Kills at each step. */
  rounds: number;
  /** The real worker, whose jobs resume some seconds after a kill, or a program that resumes runs at once. */
  life: 'worker' | 'program';
  deadlineMs: number;
  say: (line: string) => void;
}

/**
 * The steps of a fetch that are visible from outside: `signing-in`, `opening` the folder, `listing` its mails, `looking` at their headers,
 * `asking` for one of them, `reading` it, `written` (its first file, nothing committed), `moving` mails, `moved` (nothing stored yet).
 * `any` is a random instant.
 */
export const fetchSteps = [
  'signing-in',
  'opening',
  'listing',
  'looking',
  'asking',
  'reading',
  'written',
  'moving',
  'moved',
  'any',
] as const;
export type FetchStep = (typeof fetchSteps)[number];

const stepOf: [FetchStep, RegExp][] = [
  ['signing-in', /AUTHENTICATE|LOGIN/],
  ['opening', /SELECT/],
  ['listing', /SEARCH/],
  ['looking', /PEEK\[HEADER\]/],
  ['asking', /BODY\.PEEK\[\]/],
  ['moving', /UID MOVE/],
];

const program = 'packages/testing/src/scenarios/fetching-program.ts';
const user = 'rechnung';

/**
 * Delivers invoices and kills the fetching process with SIGKILL at each of these steps. At the end each document is stored once with its
 * file, the sweep leaves no file without a row, and no mail is lost.
 */
export async function crashWhileFetching(
  options: CrashOptions & { steps?: readonly FetchStep[] },
): Promise<FetchCrashResult> {
  const { steps = fetchSteps } = options;
  const dovecot = await startDovecot();
  const gate = await openImapGate(dovecot);
  const dataDir = await mkdtemp(join(tmpdir(), 'portal-test-fetching-'));
  const documents = join(dataDir, 'files', 'invoice-documents');
  mkdirSync(documents, { recursive: true });
  const env = { ...workerSettings({ ...options, smtpPort: 9 }), DATA_DIR: dataDir };
  const runtime = openRuntime(readConfig(env), { process: 'script', log: openLog('silent', 'script') });
  const deadline = performance.now() + options.deadlineMs;
  const violations: string[] = [];
  const killsAt: Record<string, number> = {};
  const expected = new Map<string, Buffer>();
  let kills = 0;
  let mails = 0;
  const start = () => (options.life === 'worker' ? startWorkerProcess(env) : startProgram(program, env));
  const life = killedAtSteps<FetchStep>({ start, maxMs: 1_500, deadline });

  gate.onCommand = async (line) => {
    const [step] = stepOf.find(([, pattern]) => pattern.test(line)) ?? [];
    if (step === undefined) return;
    await life.reach(step);
    // The next steps happen in the client, a few milliseconds after the gate passes the command on.
    if (step === 'asking') setTimeout(() => void life.reach('reading'), 2 + Math.random() * 40);
    if (step === 'moving') setTimeout(() => void life.reach('moved'), 1 + Math.random() * 8);
  };
  const watcher = watch(documents, { recursive: true }, (_, name) => {
    if (/\.(?:xml|pdf|bin)$/.test(name ?? '')) void life.reach('written');
  });

  try {
    const make = builders(runtime.database);
    const admin = await make.user({ role: 'ADMIN' });
    const session = await make.session(admin);
    const system = runtime.system({ requestId: 'soak', ip: null, userAgent: null });
    const token = sessionTokens(system).issue({ sub: admin.id, tid: admin.tenantId, sid: session.id, ver: 1 });
    const ctx = await authenticate(system, token);
    for (const folder of ['INBOX', 'Verarbeitet', 'Fehler']) await dovecot.makeFolder(user, folder);
    const folders = { processedFolder: 'Verarbeitet', failedFolder: 'Fehler' };
    const input = mailboxForm({ ...gate, password: dovecot.password }, user, folders);
    await putInvoiceMailbox(ctx, { ...input, isActive: true });

    const becomeDue = () => ctx.tx((tx) => tx.update(invoiceMailboxes).set({ nextFetchAt: sql`now()` }));
    const isQuiet = async (): Promise<boolean> => {
      const left = await dovecot.mails(user);
      const open = await ctx.read((db) => db.$count(runs, isUnfinished));
      return left.length === 0 && open === 0;
    };
    const expectDocument = (content: string | Buffer): Buffer => {
      const bytes = Buffer.from(content);
      expected.set(createHash('sha256').update(bytes).digest('hex'), bytes);
      return bytes;
    };

    /** Delivers an invoice with its PDF, a second invoice, and the first one again. */
    async function deliver(): Promise<void> {
      const xml = (number: number) => expectDocument(ublInvoice({ number: `R-${number}` }));
      const number = (mails += 1);
      const pdf = { name: `R-${number}.pdf`, bytes: expectDocument(plainPdf(`${number}`)) };
      const both = [{ name: `R-${number}.xml`, bytes: xml(number) }, pdf];
      await dovecot.deliver(user, mailWith({ attachments: both }));
      await dovecot.deliver(user, mailWith({ attachments: [{ name: 'x.xml', bytes: xml((mails += 1)) }] }));
      await dovecot.deliver(user, mailWith({ attachments: both, subject: 'Noch einmal' }));
    }

    async function killAt(step: FetchStep): Promise<void> {
      // After two lost processes a mailbox pauses for an hour.
      const again = setInterval(() => void becomeDue().catch(() => undefined), 300);
      await life.killAt(step).finally(() => clearInterval(again));
      kills += 1;
      killsAt[step] = (killsAt[step] ?? 0) + 1;
      options.say(`${kills} kills, the last one ${step}`);
    }

    for (let round = 0; round < options.rounds; round += 1) {
      for (const step of steps) {
        await deliver();
        await becomeDue();
        await killAt(step);
      }
    }
    life.live();
    while (!(await isQuiet())) {
      if (performance.now() > deadline) throw new Error('the scenario did not finish before its deadline');
      await becomeDue();
      await pause(200);
    }

    const files = await ctx.read((db) => db.select().from(invoiceFiles).orderBy(asc(invoiceFiles.id)));
    const stored = new Set(files.map(({ sha256 }) => sha256.toString('hex')));
    for (const sha256 of expected.keys()) if (!stored.has(sha256)) violations.push(`The document ${sha256} is lost.`);
    if (files.length !== expected.size)
      violations.push(`There are ${files.length} documents instead of ${expected.size}.`);
    const counted = await ctx.read((db) => db.select({ state: invoices.state }).from(invoices));
    if (counted.length !== mails) violations.push(`There are ${counted.length} invoices instead of ${mails}.`);
    if (counted.some(({ state }) => state !== 'new')) violations.push('A new invoice has another state.');
    for (const { path, sha256 } of files) {
      const bytes = await readFile(join(dataDir, 'files', path)).catch(() => null);
      if (!bytes?.equals(expected.get(sha256.toString('hex')) ?? Buffer.alloc(0)))
        violations.push(`${path} is incomplete.`);
    }
    // Ages the files past the hour after which the sweep removes files without a row.
    const onDisk = async () =>
      (await readdir(documents, { recursive: true }))
        .filter((name) => /\.[a-z]+$/.test(name))
        .map((name) => join(documents, name));
    for (const place of await onDisk()) await utimes(place, new Date(0), new Date(0));
    const owner = { folder: 'invoice-documents', table: invoiceFiles, path: invoiceFiles.path };
    await sweepOrphanFiles(system, [owner], new AbortController().signal);
    const left = await onDisk();
    if (left.length !== files.length) violations.push(`${left.length} files remain for ${files.length} rows.`);
    const moved = await dovecot.mails(user, 'Verarbeitet');
    const sent = kills * 3;
    if (moved.length !== sent) violations.push(`${moved.length} of ${sent} mails were moved.`);
    return { kills, killsAt, documents: files.length, violations };
  } finally {
    watcher.close();
    await life.end();
    await runtime.close();
    await gate.stop();
    await dovecot.stop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}
