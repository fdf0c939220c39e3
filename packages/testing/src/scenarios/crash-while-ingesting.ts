import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { and, isNotNull, notInArray, sql } from 'drizzle-orm';
import { runs } from '@portal/db/schema/platform/operations';
import { tenderNotices } from '@portal/db/schema/tenders/notices';
import { tenderSources } from '@portal/db/schema/tenders/sources';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { isUnfinished } from '@portal/platform/runs/unfinished';
import { openRuntime } from '@portal/platform/runtime';
import { startDueSources } from '@portal/usecases/tenders/jobs';
import { bundItem, type MadeUpNotice, madeUpNotice, rssFeed, tedJson } from '../made-up-notices.ts';
import { exportEntry, startTenderSources } from '../servers/tender-sources.ts';
import { startWorkerProcess, type WorkerProcess, workerSettings } from './worker-process.ts';

export interface IngestCrashResult {
  kills: number;
  /** Published notices that are not stored, or not in their latest version. */
  lost: number;
  /** Procurements with more than one tender, or tenders with more than one procurement. */
  misgrouped: number;
  /** Tenders that the search does not find, or without exactly one primary notice. */
  unfinished: number;
  /** Reads that ended before finishing their work. */
  failedRuns: number;
  filesLeft: string[];
}

/** The product reads at most this number of entries of a feed. */
const maxEntries = 1_000;

interface CrashOptions {
  databaseUrl: string;
  redisUrl: string | null;
  /** New notices in each round. */
  notices: number;
  kills: number;
  deadlineMs: number;
  say: (line: string) => void;
}

const keys = ['ted', 'oeffentlichevergabe', 'bund'];

/**
 * Lets the real worker read its sources and kills it with SIGKILL in each round: while it requests a source, while it stores notices, or at
 * a random instant. In each round the sources publish more notices and later versions of earlier ones.
 */
export async function crashWhileIngesting(options: CrashOptions): Promise<IngestCrashResult> {
  const sources = await startTenderSources();
  const dataDir = await mkdtemp(join(tmpdir(), 'portal-tender-crash-'));
  const settings = workerSettings({ databaseUrl: options.databaseUrl, redisUrl: options.redisUrl, smtpPort: 9 });
  const env = { ...settings, ...sources.env, DATA_DIR: dataDir };
  const runtime = openRuntime(readConfig(env), { process: 'script', log: openLog('silent', 'script') });
  const system = runtime.system({ requestId: 'soak', ip: null, userAgent: null });
  const deadline = performance.now() + options.deadlineMs;
  const yesterday = Temporal.Now.plainDateISO('Europe/Berlin').subtract({ days: 1 }).toString();
  /** Published notices by the key of their source. */
  const shown = {
    ted: new Map<string, MadeUpNotice>(),
    oeffentlichevergabe: new Map<string, MadeUpNotice>(),
    bund: new Map<string, MadeUpNotice>(),
  };
  let worker: WorkerProcess | null = null;
  let number = 0;

  /** Publishes more procurements, half of them at two sources, and a later version of one in seven. */
  function showMore(round: number): void {
    for (let n = 0; n < options.notices; n += 1) {
      number += 1;
      const isDialect = number % 5 === 0;
      const notice = madeUpNotice(number, {
        publishedOn: yesterday,
        ...(isDialect && { id: String(20_000_000 + number) }),
        publicationNumber: !isDialect && number % 2 === 0 ? `${700_000 + number}-2026` : null,
      });
      shown.oeffentlichevergabe.set(notice.id, notice);
      if (notice.publicationNumber !== null) shown.ted.set(notice.publicationNumber, notice);
      if (isDialect && shown.bund.size < maxEntries) shown.bund.set(notice.id, notice);
    }
    for (const [key, notice] of shown.oeffentlichevergabe)
      if (Number.parseInt(key.slice(-3), 16) % 7 === round % 7)
        shown.oeffentlichevergabe.set(key, {
          ...notice,
          version: notice.version + 1,
          title: `${notice.title} (Fassung ${round})`,
        });
    sources.days.set(
      yesterday,
      [...shown.oeffentlichevergabe.values()].map((notice) => exportEntry(notice)),
    );
    sources.journal.notices = [...shown.ted.values()].map(tedJson);
    sources.feeds.set('/bund.xml', { body: rssFeed([...shown.bund.values()].map(bundItem)) });
  }

  const across = system.acrossTenants;
  const storedCount = () => across('a crash run reads the state', (tx) => tx.$count(tenderNotices));
  const becomeDue = async () => {
    await across('a crash run advances time', async (tx) => {
      await tx
        .insert(tenderSources)
        .values(keys.map((key) => ({ key })))
        .onConflictDoNothing();
      await tx.update(tenderSources).set({ nextRunAt: null });
    });
    await system.enqueue(startDueSources, {});
  };
  const until = async (what: string, condition: () => Promise<boolean>): Promise<void> => {
    while (!(await condition())) {
      if (performance.now() > deadline) throw new Error(`the deadline passed while waiting until ${what}`);
      await pause(25);
    }
  };
  const kill = async () => {
    worker?.child.kill('SIGKILL');
    await worker?.ended;
  };

  try {
    sources.latencyMs = 20;
    for (let kills = 0; kills < options.kills; kills += 1) {
      showMore(kills);
      const requestsBefore = sources.exportRequests.length + sources.journal.requests.length;
      const before = await storedCount();
      await becomeDue();
      worker = startWorkerProcess(env);
      const isRequested = async () => sources.exportRequests.length + sources.journal.requests.length > requestsBefore;
      const isStored = async () => (await storedCount()) > before;
      await Promise.race([
        worker.unexpectedEnd,
        kills % 3 === 0 ? until('notices are stored', isStored) : until('a source is requested', isRequested),
      ]);
      // The kill comes at a random instant.
      await pause(Math.random() * (kills % 3 === 2 ? 3_000 : 200));
      await kill();
      options.say(`${kills + 1} kills, ${await storedCount()} notices`);
    }
    showMore(options.kills);
    worker = startWorkerProcess(env);
    const isQuiet = async () =>
      (await across('a crash run reads the state', (tx) => tx.$count(runs, isUnfinished))) === 0;
    // The worker first finishes the interrupted reads; then it reads once more without interruption.
    await until('interrupted reads are over', isQuiet);
    const startedAt = new Date();
    await becomeDue();
    await until('every source was read once more', async () => {
      const rows = await across('a crash run reads the state', (tx) =>
        tx.select({ at: tenderSources.lastSuccessAt }).from(tenderSources),
      );
      return rows.every(({ at }) => at !== null && at > startedAt) && (await isQuiet());
    });
    return { kills: options.kills, ...(await judge()) };
  } finally {
    worker?.child.kill('SIGTERM');
    if (worker?.child.exitCode === null && worker.child.signalCode === null) await once(worker.child, 'exit');
    await runtime.close();
    await sources.stop();
    await rm(dataDir, { recursive: true, force: true });
  }

  async function judge(): Promise<Omit<IngestCrashResult, 'kills'>> {
    const { rows, unfinished, failedRuns } = await across('a crash run reads the state', async (tx) => ({
      rows: await tx
        .select({
          source: tenderNotices.sourceKey,
          key: tenderNotices.noticeKey,
          title: tenderNotices.title,
          version: tenderNotices.noticeVersion,
          tenderId: tenderNotices.tenderId,
        })
        .from(tenderNotices),
      unfinished: (
        await tx.execute(sql`
          select t.id from tenders t where t.merged_into is null and (
            (select count(*) from tender_notices n where n.tender_id = t.id and n.is_primary) <> 1
            or not exists (select from tender_search s where s.tender_id = t.id))`)
      ).rows.length,
      failedRuns: await tx.$count(
        runs,
        and(isNotNull(runs.subject), notInArray(runs.state, ['succeeded', 'queued', 'running'])),
      ),
    }));
    const stored = new Map(rows.map((row) => [`${row.source} ${row.key}`, row]));
    let lost = 0;
    const tenderOf = new Map<string, Set<string>>();
    const procurementOf = new Map<string, Set<string>>();
    for (const [source, notices] of Object.entries(shown)) {
      for (const [key, notice] of notices) {
        const row = stored.get(`${source} ${key}`);
        stored.delete(`${source} ${key}`);
        const isCurrent = row?.title === notice.title && (source === 'bund' || row.version === notice.version);
        if (!row || !isCurrent) lost += 1;
        if (!row) continue;
        tenderOf.set(notice.id, (tenderOf.get(notice.id) ?? new Set()).add(row.tenderId));
        procurementOf.set(row.tenderId, (procurementOf.get(row.tenderId) ?? new Set()).add(notice.id));
      }
    }
    const isSeveral = ({ size }: Set<string>) => size > 1;
    const misgrouped = [...tenderOf.values(), ...procurementOf.values()].filter(isSeveral).length + stored.size;
    return { lost, misgrouped, unfinished, failedRuns, filesLeft: await readdir(dataDir) };
  }
}
