import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { serviceBinary } from '../services.ts';
import { freePort } from './private-process.ts';
import { fixturePath } from './tls.ts';

export interface TestRedis {
  url: string;
  /** Stops the server; its data stays in its folder. */
  halt(): Promise<void>;
  /** Starts it again on the same port with its data. */
  resume(): Promise<void>;
  /** Deletes all data, as in a Redis without a file after a crash. */
  empty(): Promise<void>;
  /** Changes a setting of the running server. */
  configure(name: string, value: string): Promise<void>;
  /** Stops the server and removes its folder. */
  stop(): Promise<void>;
}

/** Starts a private Redis on 127.0.0.1, set up like the deployed one. */
export async function startRedis({ databases = 16 } = {}): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'portal-test-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let server: ChildProcess | null = null;

  const resume = async () =>
    void (server = await startRedisProcess(
      [...keepsJobs, '--port', `${port}`, '--dir', folder, '--databases', `${databases}`],
      { url },
    ));

  async function halt(): Promise<void> {
    const running = server;
    server = null;
    if (running) await endRedisProcess(running);
  }

  await resume();
  return {
    url,
    halt,
    resume,
    async empty() {
      const client = new Redis(url);
      await client.flushall();
      client.disconnect();
    },
    async configure(name, value) {
      const client = new Redis(url);
      await client.config('SET', name, value);
      client.disconnect();
    },
    async stop() {
      await halt();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts `redis-server` on 127.0.0.1 with these arguments. Resolves when it answers at the address. */
export async function startRedisProcess(
  args: string[],
  { url, password = null }: { url: string; password?: string | null },
): Promise<ChildProcess> {
  const binary = serviceBinary('redis-server');
  if (!binary) throw new Error('redis-server is not installed');
  const server = spawn(binary, [...args, '--bind', '127.0.0.1'], { stdio: 'ignore' });
  const client = new Redis(url, {
    retryStrategy: () => 25,
    maxRetriesPerRequest: null,
    ...(password !== null && { password }),
  });
  client.on('error', () => undefined);
  try {
    await Promise.race([
      client.ping(),
      pause(10_000, null, { ref: false }).then(() => Promise.reject(new Error('redis-server did not start'))),
    ]);
    return server;
  } catch (error) {
    await endRedisProcess(server);
    throw error;
  } finally {
    client.disconnect();
  }
}

/** Ends it in order, or like a crash. */
export async function endRedisProcess(server: ChildProcess, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill(signal);
  await ended;
}

/** Options of a server that speaks TLS alone, also with other servers. Clients need no certificate. */
export const speaksTls = (port: number): string[] =>
  [
    ['--port', '0', '--tls-port', `${port}`, '--tls-auth-clients', 'no'],
    ['--tls-cert-file', fixturePath('localhost'), '--tls-key-file', fixturePath('key')],
    ['--tls-ca-cert-file', fixturePath('ca'), '--tls-replication', 'yes'],
  ].flat();

/** How the deployed Redis keeps jobs: append-only file, no eviction. */
export const keepsJobs = ['--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction'];

/** All keys with their values, as one text to search. */
export async function dumpRedis(url: string): Promise<string> {
  const client = new Redis(url);
  try {
    const all: string[] = [];
    for (const key of await client.keys('*')) all.push(key, (await client.dumpBuffer(key))?.toString('latin1') ?? '');
    return all.join('\n');
  } finally {
    client.disconnect();
  }
}
