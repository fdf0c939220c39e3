// GET /admin/jobs and the board over the queues, with 100,000 jobs in them, against a bare server that answers the counts, on each back end.
import { join } from 'node:path';
import { openDatabase } from '@portal/db/open';
import { newId } from '@portal/domain/ids';
import { jobsOf } from '@portal/platform/area';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openQueues, type Queues } from '@portal/platform/queues/queues';
import { builders } from '@portal/testing/make';
import { startRedis } from '@portal/testing/servers/redis';
import { serviceBinary } from '@portal/testing/services';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { areas } from '@portal/usecases/areas';
import { alternate, benchDatabase, benchSettings, median, report, startServer, stopAll, timed } from './measure.ts';

const count = Number(process.argv[2] ?? 100_000);
const rounds = 100;
const warmUps = 50;
const portion = 200;

/** Jobs as the product hands them over, spread over all kinds; a tenth of them waits for its time. */
async function fill(queues: Queues): Promise<void> {
  const kinds = jobsOf(areas);
  for (const [n, { name, queue }] of kinds.entries()) {
    const target = await queues.queue(queue);
    const share = Math.floor((count * (n + 1)) / kinds.length) - Math.floor((count * n) / kinds.length);
    for (let done = 0; done < share; done += portion) {
      await Promise.all(
        Array.from({ length: Math.min(portion, share - done) }, (_, each) => {
          const tenantId = newId();
          return target.add(
            name,
            { tenantId, actorId: null, requestId: newId(), runId: null, payload: { tenantId } },
            { jobId: newId(), attempts: 5, delay: each % 10 === 0 ? 3_600_000 : 0 },
          );
        }),
      );
    }
  }
}

const { url, folder } = await benchDatabase();
const settings = benchSettings(url, folder);
const database = openDatabase({
  url,
  poolMax: 4,
  applicationName: 'bench',
  onConnectionLost: () => undefined,
  onAcrossTenants: () => undefined,
});
const make = builders(database);
const operator = await make.user({ role: 'SUPER_ADMIN' });
const session = await make.session(operator);
const token = openSessionTokens(readConfig(settings).sessionKeys).issue({
  sub: operator.id,
  tid: operator.tenantId,
  sid: session.id,
  ver: 1,
});
const cookie = `portal_session=${token}`;
const redis = serviceBinary('redis-server') ? await startRedis() : null;
try {
  for (const [place, redisUrl] of [['PostgreSQL', null] as const, ...(redis ? [['Redis', redis.url] as const] : [])]) {
    const queues = openQueues({ redisUrl, databaseUrl: url, log: openLog('silent', 'script'), process: 'script' });
    await fill(queues);
    const env = { ...settings, ...(redisUrl !== null && { REDIS_URL: redisUrl }) };
    const api = await startServer('apps/api/src/main.ts', env, join(folder, 'api.log'));
    const bare = await startServer('bench/bare-counts.ts', env, join(folder, 'bare.log'));
    const urls = {
      bare: `${bare.url}/counts`,
      jobs: `${api.url}/admin/jobs`,
      board: `${api.url}/admin/queues/api/queues?activeQueue=mail&status=latest&page=1&jobsPerPage=10`,
    };
    const ask = {
      bare: () => timed(urls.bare, cookie),
      jobs: () => timed(urls.jobs, cookie),
      board: () => timed(urls.board, cookie),
    };
    await alternate(warmUps, ask);
    const figures = await alternate(rounds, ask);
    const limit = median(figures.bare);
    const goal = 'at most 3.0';
    report(`GET /admin/jobs, queues in ${place}`, { ours: median(figures.jobs), limit, unit: 'ms', goal });
    report(`the board, queues in ${place}`, { ours: median(figures.board), limit, unit: 'ms', goal });
    await queues.close();
  }
} finally {
  await database.close();
  await stopAll();
  await redis?.stop();
}
