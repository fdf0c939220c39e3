// New tenders against saved searches, and the matches written, against evaluation in memory and against bare statements; sizes as arguments
import { readFileSync } from 'node:fs';
import { Pool } from 'pg';
import { savedSearches } from '@portal/db/schema/tenders/saved-searches';
import { newId } from '@portal/domain/ids';
import { TenderFilters } from '@portal/domain/tenders/filters';
import { laender } from '@portal/domain/tenders/laender';
import { indexDocuments } from '@portal/domain/tenders/match-index';
import { readQuestion } from '@portal/domain/tenders/question-tree';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { builders } from '@portal/testing/make';
import { noticeRecord } from '@portal/testing/tender-notices';
import { compiledColumns } from '@portal/usecases/tenders/alerts/compile-search';
import { matchNewTenders } from '@portal/usecases/tenders/alerts/match-tenders';
import { storeNotices } from '@portal/usecases/tenders/store-notices';
import { alternate, benchDatabase, benchSettings, median, report, stopAll } from './measure.ts';

const noticeCount = Number(process.argv[2] ?? 5_000);
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

/** Five of six ask for words, the others for codes; some of both, and of a Land, a deadline or a value. */
function filtersOf(): TenderFilters {
  const asksWords = upTo(6) > 0;
  return TenderFilters.parse({
    ...(asksWords && { text: { any: [one(words), one(words)], none: upTo(4) === 0 ? [one(words)] : [] } }),
    ...((!asksWords || upTo(10) < 7) && { cpv: { prefixes: [one(labels).code.slice(0, 3 + upTo(2))] } }),
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
  await pool.query('vacuum analyze');

  /** The tenders of a measurement wait, and nothing has been found. */
  async function begin(count: number): Promise<void> {
    await pool.query('truncate tender_matches');
    await pool.query('delete from unmatched_tenders');
    await pool.query(
      'insert into unmatched_tenders (tender_id, is_told) select tender_id, true from tender_search limit $1',
      [count],
    );
  }
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await work();
    return (performance.now() - startedAt) / 1_000;
  };
  let found = 0;
  const ours = (count: number) => async () => {
    await begin(count);
    const seconds = await timed(() => matchNewTenders(system, new AbortController().signal));
    found = Number((await pool.query('select count(*) from tender_matches')).rows[0].count);
    return seconds;
  };
  /** The same rows read and written, and between them an index in memory: no reasons, no bounds but open, nothing checked. */
  const inMemory = (count: number) => async () => {
    await begin(count);
    return timed(async () => {
      const tenders = await pool.query(
        'select t.tender_id as id, tsvector_to_array(document) as words, is_open from unmatched_tenders u join tender_search t on t.tender_id = u.tender_id',
      );
      const searches = await pool.query('select id, tenant_id, question::text as question from saved_searches');
      const index = indexDocuments(tenders.rows.map((row) => row.words));
      const pairs: [string[], string[]] = [[], []];
      const write = async () => {
        await pool.query(
          `insert into tender_matches (tenant_id, search_id, tender_id, kind, reasons)
           select $1, search, tender, 'digest', '{}' from unnest($2::uuid[], $3::uuid[]) pair (search, tender)`,
          [tenantId, pairs[0].splice(0), pairs[1].splice(0)],
        );
      };
      for (const { id, question } of searches.rows) {
        const places = question === null ? tenders.rows.keys() : index.candidates(readQuestion(question));
        for (const place of places) {
          if (!tenders.rows[place].is_open) continue;
          pairs[0].push(id);
          pairs[1].push(tenders.rows[place].id);
        }
        if (pairs[0].length > 10_000) await write();
      }
      await write();
    });
  };
  /** Two statements over a small table with an index of words, as its owner may make one. */
  const bare = (count: number) => async () => {
    await begin(count);
    return timed(async () => {
      await pool.query('begin');
      await pool.query(
        'create temp table b on commit drop as select t.* from unmatched_tenders u join tender_search t on t.tender_id = u.tender_id where t.is_open',
      );
      await pool.query('create index on b using gin (document)');
      await pool.query('analyze b');
      for (const [asked, matches] of [
        ['s.question is not null', 'b.document @@ s.question'],
        ['s.question is null', 'true'],
      ])
        await pool.query(
          `insert into tender_matches (tenant_id, search_id, tender_id, kind, reasons)
           select s.tenant_id, s.id, hit.tender_id, 'digest', '{}' from saved_searches s
           cross join lateral (select b.tender_id from b where ${matches}) hit where ${asked}`,
        );
      await pool.query('commit');
    });
  };

  const small = Math.min(1_000, noticeCount);
  const first = await alternate(rounds, { ours: ours(small), inMemory: inMemory(small) });
  console.log(
    `${small} tenders × ${searchCount} searches: ${found} matches, ${Math.round((small * searchCount) / median(first.ours)).toLocaleString('en')} pairs/s (at least 1,000,000)`,
  );
  report('matching', { ours: median(first.ours), limit: median(first.inMemory), unit: 's', goal: 'at most 2.0' });
  const second = await alternate(Math.ceil(rounds / 2), { ours: ours(noticeCount), bare: bare(noticeCount) });
  console.log(
    `${noticeCount} tenders × ${searchCount} searches: ${found} matches, ${Math.round((noticeCount * searchCount) / median(second.ours)).toLocaleString('en')} pairs/s (aim: 10,000,000)`,
  );
  report('matching, with its rows', {
    ours: median(second.ours),
    limit: median(second.bare),
    unit: 's',
    goal: 'at most 2.0',
  });
  await pool.end();
  await runtime.close();
} finally {
  await stopAll();
}
