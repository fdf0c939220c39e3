import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eq, sql } from 'drizzle-orm';
import { Client } from 'pg';
import { readXml } from '@portal/connectors/tenders/read-xml';
import { runs } from '@portal/db/schema/platform/operations';
import { tenderNotices } from '@portal/db/schema/tenders/notices';
import { tenderSources } from '@portal/db/schema/tenders/sources';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { madeUpNotice } from '@portal/testing/made-up-notices';
import { startWorkerProcess, workerSettings } from '@portal/testing/scenarios/worker-process';
import { exportEntry, startTenderSources } from '@portal/testing/servers/tender-sources';
// A day of the national export through the worker against parsing it and copying its rows alone; 25,000 notices in bounded memory
import { startDueSources } from '@portal/usecases/tenders/jobs';
import { benchDatabase, median, report, stopAll } from './measure.ts';

const { values } = parseArgs({
  options: {
    notices: { type: 'string', default: '5000' },
    entries: { type: 'string', default: '25000' },
    rounds: { type: 'string', default: '3' },
  },
});
const noticeCount = Number(values.notices);
const entryCount = Number(values.entries);
/** Some times what the longest look takes. */
const patienceMs = 15 * 60_000;
/** Bytes of the notices as in the wild: 17 KB. */
const padding = 30;

const sources = await startTenderSources();
const dataDir = await mkdtemp(join(tmpdir(), 'portal-tender-bench-'));
const { url } = await benchDatabase();
const settings = workerSettings({ databaseUrl: url, redisUrl: null, smtpPort: 9 });
const env = { ...settings, TENDER_OEV_URL: sources.urls.export, DATA_DIR: dataDir };
const runtime = openRuntime(readConfig(env), { process: 'script', log: openLog('silent', 'script') });
const across = runtime.database.acrossTenants;
const system = runtime.system({ requestId: 'bench', ip: null, userAgent: null });
// As in `pnpm start:worker`.
const worker = startWorkerProcess(env, ['--max-semi-space-size=8', '--max-old-space-size=512']);

const day = (before: number) => Temporal.Now.plainDateISO('Europe/Berlin').subtract({ days: before }).toString();
let number = 0;
function fillDay(before: number, count: number): Buffer[] {
  const entries = Array.from({ length: count }, () => {
    number += 1;
    return exportEntry(madeUpNotice(number, { publishedOn: day(before), deadlineDay: '2099-12-18' }), { padding });
  });
  sources.days.set(day(before), entries);
  return entries.map(({ bytes }) => Buffer.from(bytes));
}

const residentMb = async (): Promise<number> => {
  const status = await readFile(`/proc/${worker.child.pid}/status`, 'latin1').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
};

/** One look from its beginning to its end: seconds of work, and the most memory the worker held. */
async function look(): Promise<{ seconds: number; mostMb: number }> {
  await across('a benchmark lets time pass', async (tx) => {
    await tx.insert(tenderSources).values({ key: 'oeffentlichevergabe' }).onConflictDoNothing();
    await tx.update(tenderSources).set({ nextRunAt: null, watermark: sql`${day(2)}::date` });
    await tx.delete(runs).where(eq(runs.state, 'succeeded'));
  });
  await system.enqueue(startDueSources, {});
  let mostMb = 0;
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    await Promise.race([worker.endedByItself, pause(20)]);
    mostMb = Math.max(mostMb, await residentMb());
    const [run] = await across('a benchmark looks', (tx) =>
      tx
        .select({
          state: runs.state,
          error: runs.error,
          seconds: sql<number>`extract(epoch from ${runs.finishedAt} - ${runs.startedAt})::float8`,
        })
        .from(runs)
        .where(eq(runs.subject, 'oeffentlichevergabe')),
    );
    if (run?.state === 'succeeded') return { seconds: run.seconds, mostMb };
    if (run?.state === 'failed') throw new Error(run.error ?? 'the look failed');
    if (performance.now() > giveUpAt) throw new Error('the look takes too long');
  }
}

const seconds = async (work: () => unknown): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
};

/** Rows that tables hold, brought by COPY into empty ones of the same columns and indexes: the seconds of that alone. */
async function copyAlone(client: Client, tables: string[]): Promise<number> {
  const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
  const fileOf = (table: string) => `'${rows[0]?.folder}/${table}.copy'`;
  for (const table of tables) {
    await client.query(`create table if not exists bench_${table} (like ${table} including all)`);
    await client.query(`truncate bench_${table}`);
    await client.query(`copy ${table} to ${fileOf(table)}`);
  }
  return seconds(async () => {
    await client.query('begin');
    for (const table of tables) await client.query(`copy bench_${table} from ${fileOf(table)}`);
    await client.query('commit');
  });
}

try {
  await across('a benchmark begins', (tx) => tx.delete(tenderNotices));
  const ours: number[] = [];
  const limits: number[] = [];
  const client = new Client({ connectionString: url });
  await client.connect();
  for (let round = 0; round < Number(values.rounds); round += 1) {
    await client.query('truncate tenders, tender_notices, tender_payloads, tender_search cascade');
    sources.days.clear();
    const documents = fillDay(1, noticeCount);
    ours.push((await look()).seconds);
    const parsing = await seconds(() => {
      for (const bytes of documents) readXml(bytes);
    });
    const copying = await copyAlone(client, ['tenders', 'tender_notices', 'tender_payloads', 'tender_search']);
    limits.push(parsing + copying);
    console.log(
      `round ${round + 1}: look ${ours.at(-1)?.toFixed(2)} s, parsing alone ${parsing.toFixed(2)} s, copying alone ${copying.toFixed(2)} s`,
    );
  }
  report(`${noticeCount} notices`, { ours: median(ours), limit: median(limits), unit: 's', goal: 'at most 2.0' });
  console.log(`${Math.round(noticeCount / median(ours))} notices/s (at least 100 a core)`);
  const again = await look();
  console.log(`the same day again: ${again.seconds.toFixed(2)} s`);

  sources.days.clear();
  // An archive is read up to 20,000 entries.
  for (let left = entryCount, before = 1; left > 0; before += 1) {
    const count = Math.min(left, 9_000);
    fillDay(before, count);
    left -= count;
  }
  const large = await look();
  const stored = await across('a benchmark looks', (tx) => tx.$count(tenderNotices));
  console.log(
    `${entryCount} entries: ${large.seconds.toFixed(1)} s, ${Math.round(large.mostMb)} MB in the worker (at most 300), ${stored} stored`,
  );
  await client.end();
} finally {
  worker.child.kill('SIGTERM');
  await worker.ended;
  await runtime.close();
  await sources.stop();
  await rm(dataDir, { recursive: true, force: true });
  await stopAll();
}
