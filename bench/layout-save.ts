// Saving a layout through the whole stack against one bare UPDATE of the same bytes, 20 dashboards of 60 widgets each.
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Pool } from 'pg';
import { openDatabase } from '@portal/db/open';
import { fullAccount } from './full-account.ts';
import {
  alternate,
  benchDatabase,
  benchSettings,
  median,
  percentile,
  report,
  startServer,
  stopAll,
} from './measure.ts';

const rounds = 5;
const savesARound = Number(process.argv[2] ?? 400);

const agent = new Agent({ keepAlive: true });

function send(url: string, cookie: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { cookie, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { method: 'PUT', agent, headers }, (answer) => {
      answer
        .resume()
        .once('end', () =>
          answer.statusCode === 200 ? resolve() : reject(new Error(`saving answered ${answer.statusCode}`)),
        );
    });
    sent.once('error', reject).end(body);
  });
}

try {
  const { url, folder } = await benchDatabase();
  const settings = benchSettings(url, join(folder, 'data'));
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const { cookie, tabs } = await fullAccount(database, settings);
  await database.close();
  const api = await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log'));
  const pool = new Pool({ connectionString: url, max: 1 });

  const times = { ours: [] as number[], limit: [] as number[] };
  /** The 99th percentile of one round, in milliseconds; also appends every time to `all`. */
  const p99 = async (all: number[], once: (n: number) => Promise<unknown>): Promise<number> => {
    const own: number[] = [];
    for (let n = 0; n < savesARound; n += 1) {
      const start = performance.now();
      await once(n);
      own.push(performance.now() - start);
    }
    all.push(...own);
    return percentile(own, 0.99);
  };
  const tabOf = (n: number) => {
    const tab = tabs[n % tabs.length];
    if (!tab) throw new Error('there is no dashboard');
    return tab;
  };
  const save = (n: number) => {
    const { id, layout } = tabOf(n);
    return send(`${api.url}/dashboard/tabs/${id}/layout`, cookie, layout);
  };
  // The same rows, the same bytes.
  const update = (n: number) => {
    const { id, layout } = tabOf(n);
    return pool.query({
      name: 'bare',
      text: 'update dashboard_tabs set layouts = $2 where id = $1',
      values: [id, layout],
    });
  };
  await p99([], save); // warm-up
  await p99([], update);
  const results = await alternate(rounds, { ours: () => p99(times.ours, save), limit: () => p99(times.limit, update) });
  report('saving a layout, p99', {
    ours: median(results.ours),
    limit: median(results.limit),
    unit: 'ms',
    goal: 'at most 3.5',
  });
  console.log(
    `p50: ours ${percentile(times.ours, 0.5).toFixed(2)} ms, limit ${percentile(times.limit, 0.5).toFixed(2)} ms; p99 of all ${times.ours.length}: ours ${percentile(times.ours, 0.99).toFixed(2)} ms, limit ${percentile(times.limit, 0.99).toFixed(2)} ms`,
  );
  await pool.end();
} finally {
  agent.destroy();
  await stopAll();
}
