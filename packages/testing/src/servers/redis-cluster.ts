import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from './private-process.ts';
import { endRedisProcess, keepsJobs, startRedisProcess } from './redis.ts';

export interface TestCluster {
  /** The value of `REDIS_URL`. */
  url: string;
  /** Number of keys on each primary. */
  keysByPrimary(): Promise<number[]>;
  /** Kills a primary that holds keys. Resolves when its replica has taken over. */
  killPrimary(): Promise<void>;
  stop(): Promise<void>;
}

interface Node {
  port: number;
  process: ChildProcess;
  client: Redis;
}

const slots = 16_384;
const primaries = 3;
const password = 'word@1';

/** Starts a private Redis Cluster of three primaries, each with one replica, that fails over within about two seconds. */
export async function startRedisCluster(): Promise<TestCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'portal-test-cluster-'));
  const nodes: Node[] = [];

  async function startNode(first?: { port: number; busPort: number }): Promise<{ port: number; busPort: number }> {
    // The usual port of the bus lies 10,000 above the port of the node, where there may be none.
    const [port, busPort] = [await freePort(), await freePort()];
    const dir = join(folder, `${port}`);
    await mkdir(dir);
    const args = [...keepsJobs, '--port', `${port}`, '--dir', dir, '--requirepass', password, '--masterauth', password];
    args.push('--cluster-enabled', 'yes', '--cluster-port', `${busPort}`, '--cluster-node-timeout', '500');
    args.push('--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0');
    const url = `redis://127.0.0.1:${port}`;
    const process = await startRedisProcess(args, { url, password });
    const client = new Redis(url, { password, maxRetriesPerRequest: 1 });
    client.on('error', () => undefined);
    nodes.push({ port, process, client });
    if (first) await client.call('CLUSTER', 'MEET', '127.0.0.1', first.port, first.busPort);
    return { port, busPort };
  }

  async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
    for (let attempt = 0; !(await condition().catch(() => false)); attempt += 1) {
      if (attempt === 400) throw new Error(`the cluster did not get ready: ${what}`);
      await pause(50);
    }
  }
  const allLive = async (condition: (node: Node) => Promise<boolean>): Promise<boolean> => {
    for (const node of nodes) if (node.process.signalCode === null && !(await condition(node))) return false;
    return true;
  };
  const isOk = async ({ client }: Node) => /cluster_state:ok/.test(await client.cluster('INFO'));
  const replication = ({ client }: Node) => client.info('replication');

  async function livePrimaries(): Promise<Node[]> {
    const found: Node[] = [];
    for (const node of nodes)
      if (node.process.signalCode === null && /role:master/.test(await replication(node))) found.push(node);
    return found;
  }

  async function stop(): Promise<void> {
    for (const { client, process } of nodes) {
      client.disconnect();
      await endRedisProcess(process, 'SIGKILL');
    }
    await rm(folder, { recursive: true, force: true });
  }

  try {
    const first = await startNode();
    for (let n = 1; n < 2 * primaries; n += 1) await startNode(first);
    const share = Math.ceil(slots / primaries);
    const ids = await Promise.all(nodes.map(({ client }) => client.cluster('MYID')));
    for (const [n, { client }] of nodes.slice(0, primaries).entries())
      await client.call('CLUSTER', 'ADDSLOTSRANGE', n * share, Math.min((n + 1) * share, slots) - 1);
    // A node learns of the others by gossip.
    for (const [n, { client }] of nodes.slice(primaries).entries())
      await until('replicas', async () => (await client.call('CLUSTER', 'REPLICATE', ids[n] ?? '')) === 'OK');
    await until('slots', () => allLive(isOk));
    await until('replication', () =>
      allLive(async (node) => /master_link_status:up|connected_slaves:1/.test(await replication(node))),
    );
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    url: `redis+cluster://:${encodeURIComponent(password)}@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    async keysByPrimary() {
      return Promise.all((await livePrimaries()).map(({ client }) => client.dbsize()));
    },
    async killPrimary() {
      let killed: Node | undefined;
      for (const node of await livePrimaries()) if ((await node.client.dbsize()) > 0) killed ??= node;
      if (!killed) throw new Error('no primary holds a key');
      killed.client.disconnect();
      await endRedisProcess(killed.process, 'SIGKILL');
      await until('another primary', async () => (await livePrimaries()).length === primaries && (await allLive(isOk)));
    },
    stop,
  };
}
