// Opening a dashboard (tabs, layout, widgets, favorites) as 50 users at once, against a bare Fastify handler with as many prepared queries.
import { join } from 'node:path';
import autocannon from 'autocannon';
import { openDatabase } from '@portal/db/open';
import { fullAccount } from './full-account.ts';
import { alternate, benchDatabase, benchSettings, median, report, startServer, stopAll } from './measure.ts';

const seconds = Number(process.argv[2] ?? 6);
const userCount = 50;
/** Of each account; what is opened is the first. */
const tabCount = 4;

interface SystemContext {
  headers: Record<string, string>;
  paths: string[];
}

try {
  const { url, folder } = await benchDatabase();
  const settings = { ...benchSettings(url, join(folder, 'data')), DATABASE_POOL_MAX: '10' };
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const ours: SystemContext[] = [];
  const limit: SystemContext[] = [];
  for (let n = 0; n < userCount; n += 1) {
    const { cookie, user, tabs } = await fullAccount(database, settings, tabCount);
    const [tab] = tabs;
    if (!tab) throw new Error('there is no dashboard');
    ours.push({
      headers: { cookie },
      paths: [
        '/dashboard/tabs',
        `/dashboard/tabs/${tab.id}/layout`,
        `/dashboard/tabs/${tab.id}/widgets`,
        `/favorites?widgetId=${tab.favoritesId}`,
      ],
    });
    limit.push({
      headers: {},
      paths: [
        `/tabs/${user.id}/${user.id}`,
        `/layout/${user.id}/${tab.id}`,
        `/widgets/${user.id}/${tab.id}`,
        `/favorites/${user.id}/${tab.favoritesId}`,
      ],
    });
  }
  await database.close();
  const api = await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log'));
  const bare = await startServer('bench/bare-dashboard.ts', settings, join(folder, 'bare.log'));

  const openAll = (server: string, contexts: SystemContext[]) => async () => {
    let next = 0;
    const result = await autocannon({
      url: server,
      connections: userCount,
      duration: seconds,
      setupClient: (client) => {
        const { headers, paths } = contexts[next++ % contexts.length] ?? { headers: {}, paths: ['/'] };
        client.setRequests(paths.map((path) => ({ method: 'GET' as const, path, headers })));
      },
    });
    if (result.non2xx > 0 || result.errors > 0)
      throw new Error(`${server}: ${result.non2xx} refused, ${result.errors} failed`);
    return result.requests.average;
  };
  const measured = { ours: openAll(api.url, ours), limit: openAll(bare.url, limit) };
  await Promise.resolve(measured.ours()).then(measured.limit); // warm-up
  const results = await alternate(5, measured);
  report('opening a dashboard', {
    ours: median(results.ours),
    limit: median(results.limit),
    unit: 'req/s',
    goal: 'at least 0.5',
  });
} finally {
  await stopAll();
}
