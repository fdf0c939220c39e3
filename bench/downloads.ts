// GET /auth/me while twenty people download pictures at 10 Mbit/s each, from the folder and from an object store
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openDatabase } from '@portal/db/open';
import { readConfig } from '@portal/platform/config';
import { builders } from '@portal/testing/make';
import { tinyPng } from '@portal/testing/pictures';
import { startObjectStore } from '@portal/testing/servers/object-store';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { benchDatabase, benchSettings, during, memoryMb, percentile, startServer, stopAll, timed } from './measure.ts';

const seconds = Number(process.argv[2] ?? 20);
const mbitPerSec = Number(process.argv[3] ?? 10);
const people = 20;
const run = promisify(execFile);
const pictureBytes = 4 * 1024 * 1024;

const store = await startObjectStore();
// The store is elsewhere in earnest: here it runs only while no other process wants a processor. The lowest priority is not enough, because a
// process that was woken up would then still wait some milliseconds for it. The people have the lowest priority.
const { stdout: storePids } = await run('pgrep', ['-P', String(process.pid), 'node']);
for (const pid of storePids.trim().split('\n')) await run('chrt', ['--idle', '--all-tasks', '--pid', '0', pid]);
try {
  const { url, folder } = await benchDatabase();
  const settings = benchSettings(url, join(folder, 'data'));
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const user = await make.user();
  const session = await make.session(user);
  await database.close();
  const claims = { sub: user.id, tid: user.tenantId, sid: session.id, ver: 1 };
  const cookie = `portal_session=${openSessionTokens(readConfig(settings).sessionKeys).issue(claims)}`;

  for (const [kept, more] of [
    ['the folder', {}],
    ['the object store', store.env()],
  ] as const) {
    const api = await startServer('apps/api/src/main.ts', { ...settings, ...more }, join(folder, 'api.log'));
    const picture = `${api.url}/dashboard/images/${await upload(api.url, cookie)}`;
    for (let n = 0; n < 500; n += 1) await timed(`${api.url}/auth/me`, cookie);
    const quiet = await during(pause(seconds * 1_000), `${api.url}/auth/me`, cookie);
    const before = await memoryMb(api.child.pid);
    // In a process of its own: the work of the downloads must not count as time of the calls.
    const downloads = run(process.execPath, [
      'bench/slow-downloads.ts',
      picture,
      cookie,
      ...[people, mbitPerSec, seconds].map(String),
    ]);
    const busy = await during(downloads, `${api.url}/auth/me`, cookie);
    const bytes = Number((await downloads).stdout);
    const shown = (ms: number[]) => `${percentile(ms, 0.5).toFixed(1)} / ${percentile(ms, 0.99).toFixed(1)} ms`;
    console.log(
      `${kept}: /auth/me p50 / p99 alone ${shown(quiet)}, during ${people} downloads ${shown(busy)}; ${(bytes / 1e6 / seconds).toFixed(0)} MB/s, memory ${before.toFixed(0)} → ${(await memoryMb(api.child.pid)).toFixed(0)} MB`,
    );
    api.child.kill('SIGTERM');
  }
} finally {
  await stopAll();
  await store.stop();
}

/** Stores a picture. Returns its id. */
async function upload(api: string, cookie: string): Promise<string> {
  const body = new FormData();
  // A PNG may have anything after its end; the portal stores a picture unchanged.
  body.set('image', new Blob([tinyPng, randomBytes(pictureBytes)]), 'picture.png');
  const answer = await fetch(`${api}/dashboard/images`, { method: 'POST', headers: { cookie }, body });
  if (answer.status !== 201) throw new Error(`the upload was answered with ${answer.status}`);
  return ((await answer.json()) as { id: string }).id;
}
