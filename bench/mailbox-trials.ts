// GET /health while ten mailboxes are tested at a server that answers with a line of 3 MB
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '@portal/db/open';
import { readConfig } from '@portal/platform/config';
import { builders } from '@portal/testing/make';
import { imapGreeting, type ScriptedServer, startScriptedServer, tagOf } from '@portal/testing/servers/scripted-server';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { benchDatabase, benchSettings, during, percentile, startServer, stopAll, timed } from './measure.ts';

const trials = 10;
const rounds = 5;

if (process.argv[2] === 'mail-server') {
  const { host, port } = await startScriptedServer(imapGreeting, (line) => {
    const tag = tagOf(line);
    const lines = line.includes('EXAMINE') ? `* ${'x ('.repeat(1_000_000)}\r\n` : '';
    return `${lines}${tag} OK done\r\n`;
  });
  process.send?.({ host, port });
  await new Promise(() => undefined);
}

const mailServer = fork(import.meta.filename, ['mail-server']);
try {
  const [{ host, port }] = (await once(mailServer, 'message')) as [Pick<ScriptedServer, 'host' | 'port'>];
  // It is elsewhere in earnest: here it gets only the processor time that the API leaves.
  setPriority(mailServer.pid ?? 0, constants.priority.PRIORITY_LOW);
  const { url, folder } = await benchDatabase();
  const settings = { ...benchSettings(url, join(folder, 'data')), OUTBOUND_ALLOW_HOSTS: `${host}:${port}` };
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const tokens = openSessionTokens(readConfig(settings).sessionKeys);
  const cookies: string[] = [];
  for (let n = 0; n < trials; n += 1) {
    const admin = await make.user({ role: 'ADMIN' });
    const session = await make.session(admin);
    cookies.push(`portal_session=${tokens.issue({ sub: admin.id, tid: admin.tenantId, sid: session.id, ver: 1 })}`);
  }
  await database.close();

  const api = await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log'));
  for (let n = 0; n < 200; n += 1) await timed(`${api.url}/health`, '');
  const body = JSON.stringify({ host, port, security: 'none', username: 'ada', password: 'secret' });
  const tryMailbox = async (cookie: string): Promise<string> => {
    const headers = { cookie, 'content-type': 'application/json' };
    const answer = await fetch(`${api.url}/invoices/mailbox/test`, { method: 'POST', headers, body });
    return `${answer.status} ${((await answer.json()) as { error: string }).error}`;
  };
  for (let round = 0; round < rounds; round += 1) {
    const all = Promise.all(cookies.map(tryMailbox));
    const times = await during(all, `${api.url}/health`, '');
    const shown = [percentile(times, 0.5), percentile(times, 0.99), Math.max(...times)].map((ms) => ms.toFixed(1));
    console.log(
      `/health p50, p99, slowest ${shown.join(', ')} ms (bar 100); trials: ${[...new Set(await all)].join(', ')}`,
    );
    // An account may test a mailbox a few times a minute.
    await pause(1_000);
  }
} finally {
  mailServer.kill();
  await stopAll();
}
