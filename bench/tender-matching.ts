// Matches new tenders against saved searches and writes the matches: pairs per second; sizes as arguments
import { readFileSync } from 'node:fs';
import { Pool } from 'pg';
import { savedSearches } from '@portal/db/schema/tenders/saved-searches';
import { newId } from '@portal/domain/ids';
import { TenderFilters } from '@portal/domain/tenders/filters';
import { laender } from '@portal/domain/tenders/laender';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { builders } from '@portal/testing/make';
import { noticeRecord } from '@portal/testing/tender-notices';
import { compiledColumns } from '@portal/usecases/tenders/alerts/compile-search';
import { matchNewTenders } from '@portal/usecases/tenders/alerts/match-tenders';
import { storeNotices } from '@portal/usecases/tenders/store-notices';
import { benchDatabase, benchSettings, median, stopAll } from './measure.ts';

const noticeCount = Number(process.argv[2] ?? 1_000);
const searchCount = Number(process.argv[3] ?? 10_000);
const rounds = Number(process.argv[4] ?? 5);

/** The same numbers on every run. */
function* numbers(): Generator<number, never> {
  let state = 4_711;
  for (;;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield state / 2 ** 32;
  }
}
const random = numbers();
const upTo = (count: number): number => Math.floor(random.next().value * count);
const one = <Value>(values: readonly Value[]): Value => values[upTo(values.length)] as Value;

const labels = readFileSync(new URL('../packages/usecases/src/tenders/cpv-labels.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^\d/.test(line))
  .map((line) => ({ code: line.slice(0, 8), label: line.slice(9) }));
const words = [...new Set(labels.flatMap(({ label }) => label.match(/\p{Lu}\p{Ll}{4,20}/gu) ?? []))];

const notices = Array.from({ length: noticeCount }, () => {
  const [main, other] = [one(labels), one(labels)];
  return noticeRecord({
    title: `${main.label} ${one(words)}`.slice(0, 500),
    description: Array.from({ length: 12 }, () => one(labels).label).join('. '),
    buyerName: `Stadt Musterhausen ${upTo(5_000)}`,
    cpvCodes: [main.code, other.code],
    bundeslaender: [one(laender)],
    form: one(['competition', 'competition', 'result'] as const),
  });
});

/** Five of six search for words, the others for codes; some search for both, or also for a Land, a deadline or a value. */
function filtersOf(): TenderFilters {
  const hasWords = upTo(6) > 0;
  return TenderFilters.parse({
    ...(hasWords && { text: { any: [one(words), one(words)], none: upTo(4) === 0 ? [one(words)] : [] } }),
    ...((!hasWords || upTo(10) < 7) && { cpv: { prefixes: [one(labels).code.slice(0, 3 + upTo(2))] } }),
    combine: upTo(3) === 0 ? 'any' : 'all',
    ...(upTo(10) < 6 && { region: { laender: [one(laender), one(laender)] } }),
    ...(upTo(5) === 0 && { deadline: { minDays: one([3, 7, 14]) } }),
    ...(upTo(20) === 0 && { value: { min: one([10_000, 50_000, 100_000]) } }),
  });
}

try {
  const { url, folder } = await benchDatabase();
  const runtime = openRuntime(readConfig(benchSettings(url, folder)), {
    process: 'script',
    log: openLog('silent', 'script'),
  });
  const system = runtime.system({ requestId: 'bench', ip: null, userAgent: null });
  const pool = new Pool({ connectionString: url, max: 1 });
  const make = builders(runtime.database);
  const { id: tenantId } = await make.tenant();
  for (let done = 0; done < searchCount; done += 50) {
    const { id: userId } = await make.user({ tenantId });
    const rows = Array.from({ length: Math.min(50, searchCount - done) }, (_, n) => {
      const owner = { id: newId(), tenantId, userId };
      return { ...owner, name: `Suche ${n}`, instantAlert: n % 5 === 0, ...compiledColumns(filtersOf()) };
    });
    await system.acrossTenants('the benchmark saves searches', (tx) => tx.insert(savedSearches).values(rows));
  }
  await storeNotices(system, notices);
  await pool.query('truncate unmatched_tenders');
  await pool.query('vacuum analyze');

  const seconds: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await pool.query('truncate tender_matches');
    await pool.query('insert into unmatched_tenders (tender_id, is_told) select tender_id, true from tender_search');
    const startedAt = performance.now();
    await matchNewTenders(system, new AbortController().signal);
    seconds.push((performance.now() - startedAt) / 1_000);
  }
  const { rows } = await pool.query('select count(*) as matches from tender_matches');
  const speed = Math.round((noticeCount * searchCount) / median(seconds)).toLocaleString('en');
  console.log(
    `${noticeCount} tenders × ${searchCount} searches: ${rows[0].matches} matches in ${median(seconds).toFixed(2)} s, ${speed} pairs/s (at least 3,000,000)`,
  );
  await pool.end();
  await runtime.close();
} finally {
  await stopAll();
}
