import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, connect } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { programOf } from '@portal/testing/program';

const { url: databaseUrl, ownerUrl } = await testDatabase();
const started: ChildProcess[] = [];
afterAll(async () => {
  for (const child of started) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

const key = `test:${Buffer.alloc(32).toString('base64')}`;
const settings = { DATABASE_URL: databaseUrl, SESSION_SECRET: key, SECRETS_KEYS: key, PORT: '0' };

/** Starts the real process with only these settings. */
function start(env: Record<string, string>) {
  const program = programOf('apps/api/src/main.ts', env);
  const child = spawn(program.command, program.args, {
    env: program.env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  started.push(child);
  const output = { out: '', err: '' };
  child.stdout?.on('data', (chunk) => (output.out += chunk));
  child.stderr?.on('data', (chunk) => (output.err += chunk));
  const silent = [child.stdout, child.stderr].map(async (stream) => stream && once(stream, 'end'));
  const ended = once(child, 'exit').then(async ([code]) => {
    await Promise.all(silent);
    return code as number | null;
  });
  const ready = once(child, 'message').then(([message]) => message as { type: string; url: string });
  return { child, output, ended, ready };
}

describe('the API process', () => {
  it('reports its address when it is ready, and writes only log lines', async () => {
    const { child, ready, ended, output } = start(settings);
    const message = await ready;
    expect(message).toMatchObject({ type: 'ready', url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/) });
    expect((await fetch(`${message.url}/health`)).status).toBe(200);
    // The port it picked is part of its own origin.
    const login = (origin: string) =>
      fetch(`${message.url}/auth/logout`, { method: 'POST', headers: { origin } }).then(({ status }) => status);
    expect(await login(message.url)).toBe(204);
    expect(await login('http://127.0.0.1:1')).toBe(403);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    for (const line of output.out.trimEnd().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ name: 'api', level: 'info' });
    expect(output.err).toBe('');
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'finishes the request in progress after %s and accepts no new ones',
    async (signal) => {
      const { child, ready, ended } = start(settings);
      const { url } = await ready;
      const { port } = new URL(url);
      const socket = connect(Number(port), '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString()));
      const body = JSON.stringify({ username: 'anna', password: 'not the right one' });
      socket.write(
        `POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
      );
      socket.write(body.slice(0, 5));
      // A later request is answered, so the first one has reached the process.
      expect((await fetch(`${url}/health`, { headers: { connection: 'close' } })).status).toBe(200);
      child.kill(signal);
      await expect
        .poll(() =>
          fetch(`${url}/health`, { headers: { connection: 'close' } }).then(
            ({ status }) => status,
            () => 'refused',
          ),
        )
        .toBe('refused');
      socket.write(body.slice(5));
      expect(await ended).toBe(0);
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
      expect(answer).toContain('INVALID_CREDENTIALS');
    },
  );

  it('stops when its supervisor is gone, and only once for several signals', async () => {
    const { child, ready, ended, output } = start(settings);
    await ready;
    child.disconnect();
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(output.out.match(/the API is stopping/g)).toHaveLength(1);
    expect(output.out).toContain('the API has stopped');
  });

  it('names all invalid settings and exits with code 78', async () => {
    const { ended, output } = start({ PORT: '99999', TRUST_PROXY: 'maybe', DATABASE_URL: databaseUrl });
    expect(await ended).toBe(78);
    for (const name of ['PORT', 'TRUST_PROXY', 'SESSION_SECRET', 'SECRETS_KEYS'])
      expect(output.err).toContain(`${name}:`);
    expect(output.out).toBe('');
  });

  it('exits with code 1 if its port is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { ended, output } = start({ ...settings, PORT: String((holder.address() as AddressInfo).port) });
    expect(await ended).toBe(1);
    expect(output.out).toContain('EADDRINUSE');
    holder.close();
  });

  it('warns about a database login with more rights than it needs, and still works', async () => {
    const { child, ready, ended, output } = start({ ...settings, DATABASE_URL: ownerUrl });
    const { url } = await ready;
    await expect.poll(() => output.out, { timeout: 10_000 }).toContain('is stronger than the apps need');
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('exits with code 78 if the database refuses its login', async () => {
    const url = Object.assign(new URL(databaseUrl), { username: 'nobody_at_all' });
    const { ended, output } = start({ ...settings, DATABASE_URL: url.href });
    expect(await ended).toBe(78);
    expect(output.err).toContain('The database refuses the login nobody_at_all: correct');
  });

  it('starts without a database and reports that it is not ready', async () => {
    const { child, ready, ended } = start({ ...settings, DATABASE_URL: 'postgres://portal@127.0.0.1:9/portal' });
    const { url } = await ready;
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect((await fetch(`${url}/health/ready`)).status).toBe(503);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});
