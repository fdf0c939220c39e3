import { Agent, get } from 'node:http';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
// Sign-ins per second against raw argon2id verifications on all cores, and how /health fares meanwhile.
import { verify } from 'argon2';
import autocannon from 'autocannon';
import { openDatabase } from '@portal/db/open';
import { builders } from '@portal/db/testing/make';
import { openPasswordHashing } from '@portal/usecases/accounts/password-hashing';
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

const seconds = Number(process.argv[2] ?? 6);
const password = 'correct horse battery';

const agent = new Agent({ keepAlive: true });

const answered = (url: string): Promise<void> =>
  new Promise((resolve, reject) => {
    get(url, { agent }, (answer) => answer.resume().once('end', resolve)).once('error', reject);
  });

/** Keeps `callers` at work for the given time; answers how many rounds were finished per second. */
async function perSecond(callers: number, round: (caller: number) => Promise<unknown>): Promise<number> {
  const start = performance.now();
  const end = start + seconds * 1_000;
  let done = 0;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      while (performance.now() < end) {
        await round(caller);
        done += 1;
      }
    }),
  );
  return done / ((performance.now() - start) / 1_000);
}

try {
  const { url, folder } = await benchDatabase();
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const passwordHash = await openPasswordHashing().hash(password);
  const users = await Promise.all(Array.from({ length: 64 }, () => make.user({ passwordHash })));
  await database.close();
  const api = await startServer(
    'apps/api/src/main.ts',
    benchSettings(url, join(folder, 'data')),
    join(folder, 'api.log'),
  );

  // The load comes from autocannon, which leaves more of the two cores to the server than fetch does.
  const signIns = async () => {
    const result = await autocannon({
      url: `${api.url}/auth/login`,
      connections: 16,
      duration: seconds,
      requests: users.map(({ username }) => ({
        method: 'POST' as const,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username, password }),
      })),
    });
    if (result.non2xx > 0 || result.errors > 0)
      throw new Error(`${result.non2xx} sign-ins refused, ${result.errors} failed`);
    return result['2xx'] / result.duration;
  };
  const healthMs: number[] = [];
  const withHealth = async (work: Promise<number>): Promise<number> => {
    let working = true;
    const watch = (async () => {
      while (working) {
        const start = performance.now();
        await answered(`${api.url}/health`);
        healthMs.push(performance.now() - start);
        await pause(20);
      }
    })();
    const result = await work.finally(() => (working = false));
    await watch;
    return result;
  };
  await signIns(); // warm-up
  const results = await alternate(5, {
    ours: () => withHealth(signIns()),
    limit: () => perSecond(availableParallelism(), () => verify(passwordHash, password)),
  });
  report('sign-ins', { ours: median(results.ours), limit: median(results.limit), unit: '/s', goal: 'at least 0.90' });
  console.log(
    `GET /health meanwhile: p50 ${percentile(healthMs, 0.5).toFixed(1)} ms, p99 ${percentile(healthMs, 0.99).toFixed(1)} ms of ${healthMs.length} (p99 at most 25 ms)`,
  );
} finally {
  agent.destroy();
  await stopAll();
}
