// Sign-ins per second against raw argon2id verifications on all cores, by our library and by `argon2`; and /health under load.
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { verify } from '@node-rs/argon2';
import { verify as verifyByArgon2 } from 'argon2';
import { openDatabase } from '@portal/db/open';
import { builders } from '@portal/testing/make';
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

const seconds = Number(process.argv[2] ?? 2);
const rounds = Number(process.argv[3] ?? 9);
// A server runs for weeks, but during its first half minute of sign-ins V8 still compiles.
const warmUpRounds = Math.ceil(rounds / 2);
const password = 'correct horse battery';
console.log(`measures for ${(warmUpRounds + 3 * rounds) * seconds} s and prints the figures at the end`);

const agent = new Agent({ keepAlive: true });

const answered = (url: string): Promise<void> =>
  new Promise((resolve, reject) => {
    get(url, { agent }, (answer) => answer.resume().once('end', resolve)).once('error', reject);
  });

/** Sends one request at a time over a persistent connection, with minimal work of its own. */
async function openCaller(url: string): Promise<{ post(path: string, body: string): Promise<number>; close(): void }> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay();
  let answer = '';
  let waiting = Promise.withResolvers<number>();
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1');
    const headers = answer.indexOf('\r\n\r\n');
    const length = /content-length: (\d+)/i.exec(answer)?.[1];
    if (headers < 0 || answer.length < headers + 4 + Number(length)) return;
    const status = Number(answer.slice(9, 12));
    answer = '';
    waiting.resolve(status);
  });
  socket.on('close', () => waiting.reject(new Error('the server hung up')));
  return {
    post(path, body) {
      waiting = Promise.withResolvers();
      const head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
      socket.write(`${head}\r\n\r\n${body}`);
      return waiting.promise;
    },
    close: () => socket.destroy(),
  };
}

/** Keeps `callers` busy for the given time. Returns the finished rounds per second. */
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

  // The load generator uses the same two cores as the server; autocannon would use three times as much of them.
  const callers = await Promise.all(Array.from({ length: 16 }, () => openCaller(api.url)));
  let next = 0;
  const signIns = () =>
    perSecond(callers.length, async (caller) => {
      next = (next + 1) % users.length;
      const body = JSON.stringify({ username: users[next]?.username, password });
      const status = await callers[caller]?.post('/auth/login', body);
      if (status !== 200) throw new Error(`a sign-in was answered with ${status}`);
    });
  const healthMs: number[] = [];
  const withHealth = async (work: Promise<number>): Promise<number> => {
    let working = true;
    const watch = (async () => {
      while (working) {
        const start = performance.now();
        await answered(`${api.url}/health`);
        healthMs.push(performance.now() - start);
        await pause(100);
      }
    })();
    const result = await work.finally(() => (working = false));
    await watch;
    return result;
  };
  for (let round = 0; round < warmUpRounds; round += 1) await signIns();
  const results = await alternate(rounds, {
    ours: () => withHealth(signIns()),
    limit: () => perSecond(availableParallelism(), () => verify(passwordHash, password)),
    argon2: () => perSecond(availableParallelism(), () => verifyByArgon2(passwordHash, password)),
  });
  for (const caller of callers) caller.close();
  const ours = median(results.ours);
  report('sign-ins, against verifications of the same library', {
    ours,
    limit: median(results.limit),
    unit: '/s',
    goal: 'at least 0.85, aim 0.95',
  });
  report('sign-ins, against verifications of `argon2`', {
    ours,
    limit: median(results.argon2),
    unit: '/s',
    goal: 'at least 1.70, aim 2.20',
  });
  console.log(
    `GET /health under load: p50 ${percentile(healthMs, 0.5).toFixed(1)} ms, p99 ${percentile(healthMs, 0.99).toFixed(1)} ms of ${healthMs.length} (p99 at most 25 ms)`,
  );
} finally {
  agent.destroy();
  await stopAll();
}
