// GET /auth/me through the whole stack, request logs on, against a bare Fastify handler with one prepared query
// over a pool of the same size.
import { join } from 'node:path';
import autocannon from 'autocannon';
import { openDatabase } from '@portal/db/open';
import { readConfig } from '@portal/platform/config';
import { builders } from '@portal/testing/make';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { alternate, benchDatabase, benchSettings, median, report, startServer, stopAll } from './measure.ts';

const seconds = Number(process.argv[2] ?? 6);

try {
  const { url, folder } = await benchDatabase();
  const settings = { ...benchSettings(url, join(folder, 'data')), DATABASE_POOL_MAX: '10' };
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const user = await make.user();
  const session = await make.session(user);
  await database.close();
  const token = openSessionTokens(readConfig(settings).sessionKeys).issue({
    sub: user.id,
    tid: user.tenantId,
    sid: session.id,
    ver: 1,
  });

  const ours = await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log'));
  const bare = await startServer(
    'bench/bare-server.ts',
    { ...settings, BENCH_USER: user.id },
    join(folder, 'bare.log'),
  );
  const load =
    (target: string, headers: Record<string, string> = {}) =>
    async () => {
      const result = await autocannon({ url: target, connections: 32, duration: seconds, headers });
      if (result.non2xx > 0 || result.errors > 0)
        throw new Error(`${target}: ${result.non2xx} refused, ${result.errors} failed`);
      return result.requests.average;
    };
  const me = load(`${ours.url}/auth/me`, { cookie: `portal_session=${token}` });
  const limit = load(`${bare.url}/user`);
  await Promise.resolve(me()).then(limit); // warm-up
  const results = await alternate(5, { me, limit });
  report('GET /auth/me', {
    ours: median(results.me),
    limit: median(results.limit),
    unit: 'req/s',
    goal: 'at least 0.50',
  });
} finally {
  await stopAll();
}
