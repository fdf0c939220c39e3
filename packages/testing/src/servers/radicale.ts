import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceBinary } from '../services.ts';
import { freePort, isAccepting } from './private-process.ts';
import { caCertificatePem, fixturePath } from './tls.ts';

export interface TestRadicale {
  /** `https://localhost:port`. */
  origin: string;
  username: string;
  password: string;
  /** Creates a calendar for events, or for tasks only. Returns its address. */
  makeCalendar(path: string, displayName: string, component?: 'VEVENT' | 'VTODO'): Promise<string>;
  /** Stores an object of a calendar. */
  put(address: string, ics: string): Promise<void>;
  stop(): Promise<void>;
}

const username = 'ada';
const password = 'a calendar password';

const configuration = (folder: string, port: number): string => `
[server]
hosts = 127.0.0.1:${port}
ssl = True
certificate = ${fixturePath('localhost')}
key = ${fixturePath('key')}
[auth]
type = htpasswd
htpasswd_filename = ${folder}/users
htpasswd_encryption = plain
delay = 0
[storage]
filesystem_folder = ${folder}/collections
[logging]
level = error
`;

/** Starts Debian's Radicale as a private process on 127.0.0.1 with TLS and one account. */
export async function startRadicale(): Promise<TestRadicale> {
  const binary = serviceBinary('radicale');
  if (!binary) throw new Error('radicale is not installed');
  const folder = await mkdtemp(join(tmpdir(), 'portal-test-radicale-'));
  await mkdir(join(folder, 'collections'));
  await writeFile(join(folder, 'users'), `${username}:${password}\n`);
  let server: ChildProcess | null = null;
  let port = 0;
  let complaint = '';
  // Another process may take the port between its choice and its use
  for (let attempt = 1; server === null; attempt += 1) {
    port = await freePort();
    await writeFile(join(folder, 'config'), configuration(folder, port));
    const started = spawn(binary, ['--config', join(folder, 'config')], { stdio: ['ignore', 'ignore', 'pipe'] });
    started.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = `${complaint}${text}`.slice(-2000)));
    if (await isAccepting(started, port)) server = started;
    else {
      started.kill('SIGKILL');
      if (attempt < 3) continue;
      await rm(folder, { recursive: true, force: true });
      throw new Error(`radicale did not start: ${complaint}`);
    }
  }
  const running = server;
  const origin = `https://localhost:${port}`;

  async function send(method: string, address: string, body: string): Promise<void> {
    const sent = request(address, { method, ca: caCertificatePem, auth: `${username}:${password}`, agent: false });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
    answer.resume();
    await once(answer, 'end');
    if (answer.statusCode >= 300) throw new Error(`${method} ${address}: ${answer.statusCode}`);
  }

  return {
    origin,
    username,
    password,
    async makeCalendar(path, displayName, component = 'VEVENT') {
      const address = `${origin}/${username}/${path}/`;
      await send(
        'MKCALENDAR',
        address,
        `<?xml version="1.0"?><C:mkcalendar xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><set><prop><displayname>${displayName}</displayname><C:supported-calendar-component-set><C:comp name="${component}"/></C:supported-calendar-component-set></prop></set></C:mkcalendar>`,
      );
      return address;
    },
    put: (address, ics) => send('PUT', address, ics),
    async stop() {
      if (running.exitCode === null && running.signalCode === null) {
        const ended = once(running, 'exit');
        running.kill('SIGKILL');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
