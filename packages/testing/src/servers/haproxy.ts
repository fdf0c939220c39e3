import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceBinary } from '../services.ts';
import { freePort, isAccepting, isReady } from './private-process.ts';

export interface TestHaproxy {
  /** The port at which callers reach the APIs. */
  port: number;
  /** The port that leads callers to TLS. */
  plainPort: number;
  /** The port at which programs reach the primary of PostgreSQL. */
  databasePort: number;
  /** Waits until it sends calls to this API. */
  waitForApi(name: 'a' | 'b'): Promise<void>;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Starts a process that takes over the ports; the one before finishes its calls and connections. */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

const template = new URL('../../../../docs/operations/haproxy.cfg', import.meta.url);

/** Starts HAProxy with the configuration of the documents, in front of these ports of 127.0.0.1. */
export async function startHaproxy(servers: {
  apis: readonly [number, number];
  databases: readonly [number, number];
}): Promise<TestHaproxy> {
  const binary = serviceBinary('haproxy');
  if (!binary) throw new Error('haproxy is not installed');
  const folder = await mkdtemp(join(tmpdir(), 'portal-test-haproxy-'));
  const file = join(folder, 'haproxy.cfg');
  const [port, plainPort, databasePort] = [await freePort(), await freePort(), await freePort()];
  let text = await readFile(template, 'utf8');
  const replaced = {
    'bind 10.0.0.10:80': `bind 127.0.0.1:${plainPort}`,
    'bind 10.0.0.10:443 ssl crt /etc/haproxy/portal.pem alpn h2,http/1.1': `bind 127.0.0.1:${port}`,
    'bind 127.0.0.1:6432': `bind 127.0.0.1:${databasePort}`,
    'bind 127.0.0.1:8404': `bind 127.0.0.1:${await freePort()}`,
    '/run/haproxy/admin.sock': join(folder, 'admin.sock'),
    'abns@portal-calls': `abns@portal-calls-${port}`,
    'server a 10.0.0.11:3000': `server a 127.0.0.1:${servers.apis[0]}`,
    'server b 10.0.0.12:3000': `server b 127.0.0.1:${servers.apis[1]}`,
    'server one 10.0.0.21:5432': `server one 127.0.0.1:${servers.databases[0]}`,
    'server two 10.0.0.22:5432': `server two 127.0.0.1:${servers.databases[1]}`,
  };
  for (const [from, to] of Object.entries(replaced)) {
    if (!text.includes(from)) throw new Error(`haproxy.cfg has no ${from}`);
    text = text.replaceAll(from, to);
  }
  await writeFile(file, text);
  const running = new Set<ChildProcess>();
  let current: ChildProcess | null = null;

  async function start(...more: string[]): Promise<void> {
    const started = spawn(binary as string, ['-db', '-f', file, ...more], { stdio: 'ignore' });
    running.add(started);
    started.once('exit', () => running.delete(started));
    current = started;
    if (!(await isAccepting(started, port))) throw new Error('HAProxy did not start');
  }
  async function end(signal: NodeJS.Signals, one: ChildProcess | null): Promise<void> {
    if (!one || !running.has(one)) return;
    one.kill(signal);
    await once(one, 'exit');
  }

  /** Answers a command of its socket for operators. */
  async function command(text: string): Promise<string> {
    const socket = connect(join(folder, 'admin.sock')).setEncoding('utf8');
    socket.write(`${text}\n`);
    return (await socket.toArray()).join('');
  }

  await start();
  return {
    port,
    plainPort,
    databasePort,
    async waitForApi(name) {
      // The socket comes a moment after the ports.
      const isUp = async () =>
        new RegExp(`^ready-apis,${name},.*,UP,`, 'm').test(await command('show stat').catch(() => ''));
      if (!current || !(await isReady(current, isUp))) throw new Error(`HAProxy sends no calls to API ${name}`);
    },
    start,
    kill: () => end('SIGKILL', current),
    reload: () => start('-x', join(folder, 'admin.sock'), '-sf', `${current?.pid}`),
    async stop() {
      for (const one of running) await end('SIGTERM', one);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
