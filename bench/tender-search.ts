// Searches, pages and facets of a million tenders against the same statements sent bare; the number of tenders as argument.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { Pool, type QueryResult } from 'pg';
import { askedBy, TenderQuery } from '@portal/api/tenders/tender-query';
import { openDatabase } from '@portal/db/open';
import { execute } from '@portal/db/prepared';
import { laender } from '@portal/domain/tenders/laender';
import { readConfig } from '@portal/platform/config';
import { builders } from '@portal/testing/make';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { listStatements, tenderRows, type TenderSort } from '@portal/usecases/tenders/list-tenders';
import { searchDocumentOf } from '@portal/usecases/tenders/search-document';
import { facetsStatement } from '@portal/usecases/tenders/tender-facets';
import { benchDatabase, benchSettings, percentile, report, startServer, stopAll } from './measure.ts';

const size = Number(process.argv[2] ?? 1_000_000);
const passes = Number(process.argv[3] ?? 40);
/** Requests under way at a time. */
const atOnce = 2;
/** A table of several gigabytes needs a server with enough memory, see `docs/sizing.md`. */
const sharedBuffers = '512MB';

/** Typical searches, about equally frequent. */
const lists = [
  '',
  'bundesland=NW',
  'bundesland=NW,RP&cpv=45',
  'cpv=9091',
  'q=Reinigung',
  'q=Dienstleistungen',
  'q=Dienstleistungen&noticeType=competition,result',
  'q=Wartung+Anlagen&bundesland=BY&cpv=50',
  'q="Reparatur+und+Wartung"',
  'q=reinig*+-Kanal',
  'q=Bauarbeiten&sort=relevance',
  'sort=deadline&bundesland=BE',
  'noticeType=result&bundesland=SN',
  'buyer=Stadt+Musterhausen+7',
  'source=ted&q=Software',
  'unread=true&q=Möbel',
  'publishedFrom=2026-10-01T00:00:00Z&publishedTo=2026-10-08T00:00:00Z&noticeType=competition',
  'q=Unauffindbarkeitswort',
].map((query) => encodeURI(`/tenders?limit=25${query === '' ? '' : `&${query}`}`));
const facets = ['', 'q=Reinigung', 'bundesland=NW', 'q=Dienstleistungen&noticeType=competition,result'].map((query) =>
  encodeURI(`/tenders/facets?${query}`),
);

/** The same numbers on every run. */
function* numbers(): Generator<number, never> {
  let state = 12_345;
  for (;;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield state / 2 ** 32;
  }
}
const random = numbers();
const upTo = (count: number): number => Math.floor(random.next().value * count);

async function fill(url: string): Promise<void> {
  const labels = (await readFile(new URL('../packages/usecases/src/tenders/cpv-labels.txt', import.meta.url), 'utf8'))
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => ({ code: line.slice(0, 8), label: line.slice(9) }));
  const some = (count: number) =>
    Array.from(
      { length: count },
      () => labels[Math.floor(labels.length * random.next().value ** 2)] ?? { code: '45000000', label: '' },
    );
  const pool = new Pool({ connectionString: url, max: 1 });
  await pool.query(`insert into tender_sources (key) values ('ted'), ('oeffentlichevergabe'), ('bund')`);
  const { rows: indexes } = await pool.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes where tablename in ('tender_search', 'tender_notices') and indexdef not like '%UNIQUE%'`,
  );
  for (const { name } of indexes) await pool.query(`drop index ${name}`);
  await pool.query(`
    create unlogged table made (title text, description text, "buyerName" text, "cpvCodes" text[], "nutsCodes" text[], bundeslaender text[],
      "isNationwide" boolean, form text, divisions text[], "sourcePortal" text, document tsvector)`);
  const [batch, different] = [2_500, Math.min(size, 50_000)];
  for (let done = 0; done < different; done += batch) {
    const rows = Array.from({ length: Math.min(batch, different - done) }, () => {
      const [main, ...others] = some(1 + upTo(3));
      const code = main?.code ?? '45000000';
      const form = (['competition', 'competition', 'competition', 'result', 'planning'] as const)[upTo(5)] ?? null;
      const notice = {
        sourcePortal: ['ted', 'oeffentlichevergabe', 'oeffentlichevergabe', 'bund'][upTo(4)] ?? 'ted',
        title: `${main?.label} ${some(1)[0]?.label}`.slice(0, 500),
        description: some(4 + upTo(6))
          .map(({ label }) => label)
          .join('. '),
        buyerName: `Stadt Musterhausen ${upTo(5_000)}`,
        cpvCodes: [code, ...others.map((other) => other.code)],
        nutsCodes: [`DE${upTo(9) + 1}${upTo(4)}${upTo(9)}`],
        bundeslaender: [laender[upTo(laender.length)] ?? 'NW'],
        isNationwide: upTo(50) === 0,
        form,
        procedureType: 'open',
        nature: 'services' as const,
        lots: [],
      };
      const divisions = [...new Set(notice.cpvCodes.map((one) => one.slice(0, 2)))];
      return { ...notice, ...searchDocumentOf(notice), divisions };
    });
    await pool.query(
      `insert into made
       select title, description, "buyerName", "cpvCodes", "nutsCodes", bundeslaender, "isNationwide", form, divisions, "sourcePortal",
         setweight(to_tsvector('german', text_a), 'A') || setweight(to_tsvector('german', text_b), 'B') || setweight(to_tsvector('german', text_c), 'C')
         || setweight(to_tsvector('german', text_d), 'D') || setweight(to_tsvector('german', parts), 'D') || array_to_tsvector(markers)
       from json_to_recordset($1::json) r (title text, description text, "buyerName" text, "cpvCodes" text[], "nutsCodes" text[],
         bundeslaender text[], "isNationwide" boolean, form text, divisions text[], "sourcePortal" text,
         text_a text, text_b text, text_c text, text_d text, parts text, markers text[])`,
      [JSON.stringify(rows)],
    );
  }
  // Repeats each of them over three years, the earliest first, in order of publication.
  await pool.query('select setseed(0.5)');
  for (let done = 0; done < size; done += different) {
    await pool.query(
      `with aged as (select made.*, gen_random_uuid() as id, 1095 * (1 - ($2::float + random()) / $3::float) as age from made limit $1),
       r as materialized (
         select aged.*, form = 'competition' and age < 40 as open, date_trunc('milliseconds', now() - age * interval '1 day') as at,
           date_trunc('milliseconds', now() + (40 - age) * interval '1 day') as due from aged order by age desc),
       tender as (insert into tenders (id) select id from r),
       notice as (
         insert into tender_notices (id, tender_id, is_primary, source_key, is_public, notice_key, source_notice_id, notice_version, portal_ids, is_correction,
           is_cancelled, form, procedure_type, title, description, buyer_name, buyer_city, cpv_codes, cpv_divisions, nuts_codes, bundeslaender, bundesland, is_nationwide,
           published_at, deadlines, lots, hash)
         select gen_random_uuid(), id, true, "sourcePortal", true, id::text, id::text, 1, '{}', false, false, form, 'open', title, description, "buyerName", 'Musterhausen',
           "cpvCodes", divisions, "nutsCodes", bundeslaender, bundeslaender[1], "isNationwide", at, '[]', '[]', '' from r)
       insert into tender_search (tender_id, published_at, deadline_at, deadline_is_date_only, open_until, is_open, source_keys, bundeslaender, is_nationwide,
         cpv_divisions, titles, document)
       select id, at, due, false, due, open, array["sourcePortal"], bundeslaender, "isNationwide", divisions, lower(title), document from r`,
      [size - done, done / different, Math.ceil(size / different)],
    );
    console.log(`${Math.min(done + different, size)} tenders`);
  }
  await pool.query(`set maintenance_work_mem = '512MB'`);
  for (const { definition } of indexes) await pool.query(definition);
  await pool.query('vacuum analyze');
  await pool.end();
}

const dialect = new PgDialect({ casing: 'snake_case' });
const textOf = (statement: SQL) => {
  const { sql: text, params } = dialect.sqlToQuery(statement);
  return { text, values: params };
};

/** The statements of an address with their values. */
function statementsOf(address: string, userId: string) {
  const { searchParams, pathname } = new URL(address, 'http://bench');
  const { sort = 'published', limit: _limit, ...query } = Object.fromEntries(searchParams);
  const asked = askedBy(TenderQuery.parse(query));
  if (pathname === '/tenders/facets') return { facets: textOf(facetsStatement(asked, userId)) };
  return { page: textOf(listStatements({ ...asked, sort: sort as TenderSort, limit: 25 }, userId).page) };
}

async function rowsText(): Promise<string> {
  let text = '';
  await execute({}, tenderRows, { ids: [], userId: '' }, async (statement) => {
    text = statement.text;
    return { rows: [] } as unknown as QueryResult;
  });
  return text;
}

/** Requests every address `passes` times in random order, `atOnce` at a time. Returns the milliseconds of each request. */
async function ask(url: string, addresses: string[], headers: Record<string, string>): Promise<Map<string, number[]>> {
  const times = new Map(addresses.map((address) => [address, [] as number[]]));
  const queue = Array.from({ length: passes }, () => addresses).flat();
  for (let n = queue.length - 1; n > 0; n -= 1) {
    const other = upTo(n + 1);
    [queue[n], queue[other]] = [queue[other] ?? '', queue[n] ?? ''];
  }
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let address = queue.pop(); address !== undefined; address = queue.pop()) {
        const started = performance.now();
        const answer = await fetch(url + address, { headers });
        await answer.arrayBuffer();
        if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
        times.get(address)?.push(performance.now() - started);
      }
    }),
  );
  return times;
}

try {
  const { url, folder } = await benchDatabase({ sharedBuffers });
  const settings = { ...benchSettings(url, join(folder, 'data')), DATABASE_POOL_MAX: '10' };
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const admin = await make.user({ role: 'ADMIN' });
  const session = await make.session(admin);
  await database.close();
  await fill(url);
  const token = openSessionTokens(readConfig(settings).sessionKeys).issue({
    sub: admin.id,
    tid: admin.tenantId,
    sid: session.id,
    ver: 1,
  });
  const headers = { cookie: `portal_session=${token}` };
  const searches = Object.fromEntries(
    [...lists, ...facets].map((address) => [address, statementsOf(address, admin.id)]),
  );
  const ours = await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log'));
  const bare = await startServer(
    'bench/bare-tender-search.ts',
    {
      ...settings,
      BENCH_SEARCHES: JSON.stringify(searches),
      BENCH_ROWS: await rowsText(),
      BENCH_USER: admin.id,
    },
    join(folder, 'bare.log'),
  );
  for (const [kind, addresses] of [
    ['tenders', lists],
    ['facets', facets],
  ] as const) {
    // Warms up, and checks that both give the same answer.
    for (const address of addresses) {
      const [own, other] = await Promise.all(
        [ours, bare].map(async (server) => {
          const answer = await fetch(server.url + address, { headers });
          return { total: answer.headers.get('x-total-count'), body: (await answer.json()) as unknown[] };
        }),
      );
      if (kind === 'tenders' && own?.body.length !== other?.body.length)
        throw new Error(`${address}: ${own?.body.length} and ${other?.body.length} tenders`);
    }
    const [own, other] = [await ask(ours.url, addresses, headers), await ask(bare.url, addresses, headers)];
    for (const address of addresses) {
      const sorted = (times: Map<string, number[]>) => (times.get(address) ?? []).toSorted((a, b) => a - b);
      const show = (values: number[]) =>
        `${percentile(values, 0.5).toFixed(1)} / ${percentile(values, 0.95).toFixed(1)}`;
      console.log(`${show(sorted(own)).padStart(16)} ${show(sorted(other)).padStart(16)}  ${address}`);
    }
    report(`${kind} of ${size}, 95th percentile`, {
      ours: percentile([...own.values()].flat(), 0.95),
      limit: percentile([...other.values()].flat(), 0.95),
      unit: 'ms',
      goal: 'at most 1.5, and 150 ms',
    });
  }
} finally {
  await stopAll();
}
