// Searches, pages and facets of a million tenders against the same statements sent bare; the number of tenders as argument.
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { QueryResult } from 'pg';
import { askedBy, TenderQuery } from '@portal/api/tenders/tender-query';
import { openDatabase } from '@portal/db/open';
import { execute } from '@portal/db/prepared';
import { readConfig } from '@portal/platform/config';
import { builders } from '@portal/testing/make';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { listStatements, tenderRows, type TenderSort } from '@portal/usecases/tenders/list-tenders';
import { facetsStatement } from '@portal/usecases/tenders/tender-facets';
import { fillWithTenders } from './many-tenders.ts';
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
    const other = Math.floor(Math.random() * (n + 1));
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
  await fillWithTenders(url, size);
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
