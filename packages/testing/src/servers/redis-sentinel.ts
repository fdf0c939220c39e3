import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from './private-process.ts';
import { endRedisProcess, keepsJobs, speaksTls, startRedisProcess } from './redis.ts';

export interface TestSentinels {
  /** The value of `REDIS_URL`, with the password of the servers and that of the sentinels. */
  url: string;
  /** The same with the port of one sentinel, or with other parts. */
  urlWith(parts: { primary?: string; password?: string; sentinelPassword?: string }): string;
  /** Kills the primary. Resolves when the sentinels name another one; the killed one comes back as a replica. */
  killPrimary(): Promise<void>;
  /** Stops the primary without ending it, as when its machine hangs, until the sentinels name another one; then it goes on. */
  freezePrimary(): Promise<void>;
  /** Kills the replica and starts it again. */
  killReplica(): Promise<void>;
  /** Kills the first sentinel and starts it again. */
  killSentinel(): Promise<void>;
  /** Hands over to the replica, as operators do before they maintain a machine. */
  handOver(): Promise<void>;
  stop(): Promise<void>;
}

const primaryName = 'portal-queues';
/** With all that has to be encoded in an address. */
const password = 'word@1:/#?%+';
const sentinelPassword = 'look&=+ 2';

/**
 * Starts a private Redis with one replica, and three sentinels that fail over within about two seconds. With TLS, the process must trust the
 * test authority.
 */
export async function startRedisSentinels({ hasTls = false } = {}): Promise<TestSentinels> {
  const folder = await mkdtemp(join(tmpdir(), 'portal-test-sentinels-'));
  const servers = new Map<number, ChildProcess>();
  const sentinels: { port: number; process: ChildProcess }[] = [];
  const protocol = hasTls ? 'rediss' : 'redis';
  const addressOf = (port: number) => `${protocol}://127.0.0.1:${port}`;
  const listenOn = (port: number) => (hasTls ? speaksTls(port) : ['--port', `${port}`]);

  async function startServer(port: number, primary?: number): Promise<void> {
    const dir = join(folder, `${port}`);
    await mkdir(dir, { recursive: true });
    const args = [...keepsJobs, ...listenOn(port), '--dir', dir, '--requirepass', password, '--masterauth', password];
    // Otherwise a replica is synchronized five seconds after it asked.
    args.push('--repl-diskless-sync-delay', '0');
    if (primary !== undefined) args.push('--replicaof', `127.0.0.1 ${primary}`);
    servers.set(port, await startRedisProcess(args, { url: addressOf(port), password }));
  }

  async function startSentinel(port: number, primary: number): Promise<ChildProcess> {
    const file = join(folder, `sentinel-${port}.conf`);
    await writeFile(
      file,
      [
        `dir ${folder}`,
        `requirepass "${sentinelPassword}"`,
        `sentinel sentinel-pass "${sentinelPassword}"`,
        `sentinel monitor ${primaryName} 127.0.0.1 ${primary} 2`,
        `sentinel auth-pass ${primaryName} "${password}"`,
        `sentinel down-after-milliseconds ${primaryName} 500`,
        `sentinel failover-timeout ${primaryName} 2000`,
      ].join('\n'),
    );
    return startRedisProcess([file, '--sentinel', ...listenOn(port)], {
      url: addressOf(port),
      password: sentinelPassword,
    });
  }

  async function askSentinel<T>(
    work: (sentinel: Redis) => Promise<T>,
    { port } = sentinels[0] ?? { port: 0 },
  ): Promise<T> {
    const sentinel = new Redis(addressOf(port), { password: sentinelPassword });
    try {
      return await work(sentinel);
    } finally {
      sentinel.disconnect();
    }
  }

  const primaryPort = (asked?: { port: number }) =>
    askSentinel(async (sentinel) => {
      const [, port] = (await sentinel.call('SENTINEL', 'get-master-addr-by-name', primaryName)) as [string, string];
      return Number(port);
    }, asked);

  /** A sentinel is told of the others by the primary, every two seconds. */
  const knowsAll = (sentinel: Redis): Promise<boolean> =>
    sentinel.call('SENTINEL', 'CKQUORUM', primaryName).then(
      async (answer) => /\b3 usable/.test(String(answer)) && (await hasReplica(sentinel)),
      () => false,
    );

  async function hasReplica(sentinel: Redis): Promise<boolean> {
    const [replica] = (await sentinel.call('SENTINEL', 'replicas', primaryName)) as string[][];
    if (!replica) return false;
    const fields = Object.fromEntries(
      Array.from({ length: replica.length / 2 }, (_, n) => [replica[2 * n], replica[2 * n + 1]]),
    );
    return fields['master-link-status'] === 'ok' && fields['flags'] === 'slave';
  }

  async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
    for (let attempt = 0; !(await condition()); attempt += 1) {
      if (attempt === 400) throw new Error(`the sentinels did not get ready: ${what}`);
      await pause(50);
    }
  }
  const allReady = async () => {
    for (const each of sentinels) await until('quorum', () => askSentinel(knowsAll, each));
  };
  const another = (former: number) => until('another primary', async () => (await primaryPort()) !== former);
  const processOf = (port: number): ChildProcess => {
    const server = servers.get(port);
    if (!server) throw new Error(`no server listens on port ${port}`);
    return server;
  };

  async function stop(): Promise<void> {
    for (const { process } of sentinels) await endRedisProcess(process, 'SIGKILL');
    for (const server of servers.values()) await endRedisProcess(server, 'SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }

  try {
    const [first, second] = [await freePort(), await freePort()];
    await startServer(first);
    await startServer(second, first);
    for (let n = 0; n < 3; n += 1) {
      const port = await freePort();
      sentinels.push({ port, process: await startSentinel(port, first) });
    }
    await allReady();
  } catch (error) {
    await stop();
    throw error;
  }

  const urlWith: TestSentinels['urlWith'] = (parts) => {
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const own = { primary: primaryName, password, sentinelPassword, ...parts };
    return `${protocol}+sentinel://:${encodeURIComponent(own.password)}@${hosts}/${own.primary}/1?sentinel_password=${encodeURIComponent(own.sentinelPassword)}`;
  };

  return {
    url: urlWith({}),
    urlWith,
    async killPrimary() {
      const former = await primaryPort();
      await endRedisProcess(processOf(former), 'SIGKILL');
      await another(former);
      await startServer(former);
    },
    async freezePrimary() {
      const former = await primaryPort();
      processOf(former).kill('SIGSTOP');
      await another(former);
      processOf(former).kill('SIGCONT');
    },
    async killReplica() {
      const primary = await primaryPort();
      for (const [port, server] of servers)
        if (port !== primary) {
          await endRedisProcess(server, 'SIGKILL');
          await startServer(port, primary);
        }
    },
    async killSentinel() {
      const [first] = sentinels;
      if (!first) throw new Error('there is no sentinel');
      await endRedisProcess(first.process, 'SIGKILL');
      // With a new file: a sentinel cannot read the password with a space that it has written.
      first.process = await startSentinel(first.port, await primaryPort(sentinels[1]));
      await allReady();
    },
    async handOver() {
      const former = await primaryPort();
      await until('a replica', () => askSentinel(hasReplica));
      await askSentinel((sentinel) => sentinel.call('SENTINEL', 'FAILOVER', primaryName));
      await another(former);
    },
    stop,
  };
}
