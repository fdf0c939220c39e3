import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { z } from 'zod';
import { programEnv } from '@portal/testing/program';
import { queueSettings } from '@portal/testing/test-matrix';

const root = new URL('../../../', import.meta.url);
const Package = z.object({ scripts: z.object({ 'start:api': z.string() }) });

/** The real API in its own process, with the flags of production and the keys of `testConfig`. */
export async function startApi(databaseUrl: string, settings: Record<string, string> = {}) {
  const { scripts } = Package.parse(JSON.parse(await readFile(new URL('package.json', root), 'utf8')));
  const child = spawn(process.execPath, scripts['start:api'].split(' ').slice(1), {
    cwd: fileURLToPath(root),
    env: {
      ...programEnv,
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
    /** Sends SIGTERM and waits for the end of the process. */
    async stop(): Promise<void> {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
    /** A paused connection, which ignores errors such as a reset. */
    connect(): Socket {
      return connect(Number(url.port), url.hostname)
        .on('error', () => undefined)
        .pause();
    },
    /** Null while the process runs, afterwards its error output. */
    ended: () => (child.exitCode === null && child.signalCode === null ? null : errors),
    /** Resident memory, MiB. */
    async memoryMiB(): Promise<number> {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
    },
    /** The status of `/health`. */
    health: () => fetch(new URL('/health', url)).then(({ status }) => status),
  };
}
