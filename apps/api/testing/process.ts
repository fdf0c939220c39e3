import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { z } from 'zod';
import { queueSettings } from '@portal/testing/test-matrix';

const root = new URL('../../../', import.meta.url);
const Package = z.object({ scripts: z.object({ 'start:api': z.string() }) });

/** The real API as a process of its own, with the flags it has in production and the keys of `testConfig`. */
export async function startApi(databaseUrl: string, settings: Record<string, string> = {}) {
  const { scripts } = Package.parse(JSON.parse(await readFile(new URL('package.json', root), 'utf8')));
  const child = spawn(process.execPath, scripts['start:api'].split(' ').slice(1), {
    cwd: fileURLToPath(root),
    env: {
      DATABASE_URL: databaseUrl,
      SESSION_SECRET: `test:${Buffer.alloc(32).toString('base64')}`,
      SECRETS_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
      LOG_LEVEL: 'fatal',
      PORT: '0',
      ...queueSettings(databaseUrl),
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.on('data', (chunk) => (errors += chunk));
  afterAll(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(errors);
    }),
  ])) as [{ url: string }];
  const url = new URL(message.url);
  return {
    url: message.url,
    /** Asks it to stop, and waits until it has. */
    async stop(): Promise<void> {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
    /** A connection that takes nothing until told to, and does not mind being hung up on. */
    connect(): Socket {
      return connect(Number(url.port), url.hostname)
        .on('error', () => undefined)
        .pause();
    },
    /** How it ended, null while it lives. */
    ended: () => (child.exitCode === null && child.signalCode === null ? null : errors),
    /** What the kernel holds for it, MiB. */
    async memoryMiB(): Promise<number> {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
    },
    /** Whether it still answers. */
    health: () => fetch(new URL('/health', url)).then(({ status }) => status),
  };
}
