import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type ChildPlan, superviseProgram } from './supervisor-child.ts';

/** Supervises a program with this text; `starts` counts its starts. */
async function keep(text: string, plan: Partial<ChildPlan> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'portal-child-'));
  const messages: string[] = [];
  const ready: (string | null)[] = [];
  const program = join(folder, 'program.mjs');
  const log = join(folder, 'starts');
  await writeFile(program, `import { appendFileSync } from 'node:fs'; appendFileSync(process.env.LOG, 'x');\n${text}`);
  await writeFile(log, '');
  const child = superviseProgram({
    name: 'worker',
    args: ['--import', new URL('supervised-process.ts', import.meta.url).href, program],
    env: () => ({ LOG: log }),
    onReady: (url) => ready.push(url),
    onWrongSettings: () => messages.push('wrong settings'),
    say: (line) => messages.push(line),
    ...plan,
  });
  onTestFinished(async () => {
    await child.stop(0);
    await rm(folder, { recursive: true });
  });
  return { child, messages, ready, starts: async () => (await readFile(log, 'utf8')).length };
}

const eventually = (assertion: () => void | Promise<void>) => vi.waitFor(assertion, { timeout: 20_000, interval: 20 });

it('reports when the program is ready, and ends it with SIGTERM', async () => {
  const { child, messages, ready, starts } = await keep(`
    process.on('SIGTERM', () => process.exit());
    setInterval(() => {}, 1000);
    process.send({ type: 'ready', url: 'http://127.0.0.1:1' });
    process.send({ type: 'something else' });`);
  await eventually(() => expect(ready).toEqual(['http://127.0.0.1:1']));
  await child.stop(20_000);
  expect(messages).toEqual([]);
  expect(await starts()).toBe(1);
});

it('restarts a program that ended', async () => {
  const { messages, starts } = await keep(`process.exit(3);`);
  await eventually(async () => expect(await starts()).toBeGreaterThanOrEqual(2));
  expect(messages[0]).toBe('The worker ended (exit code 3). Restarting it in 1 s.');
});

it('does not restart a program that ended because of wrong settings', async () => {
  const { messages, starts } = await keep(`process.exit(78);`);
  await eventually(() => expect(messages).toEqual(['wrong settings']));
  expect(await starts()).toBe(1);
});

it('kills a program that does not end in time', async () => {
  const { child, messages, ready } = await keep(`
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1000);
    process.send({ type: 'ready' });`);
  await eventually(() => expect(ready).toEqual([null]));
  await child.stop(50);
  expect(messages).toEqual(['The worker did not end within 0.05 s. Killing it.']);
});

it('replaces a program at once without counting a failure', async () => {
  const { child, messages, ready } = await keep(`
    process.on('SIGTERM', () => process.exit());
    setInterval(() => {}, 1000);
    process.send({ type: 'ready' });`);
  await eventually(() => expect(ready).toHaveLength(1));
  child.replace();
  await eventually(() => expect(ready).toHaveLength(2));
  expect(messages).toEqual([]);
});

/** Supervises a program that first loads a module with this text; `env` is empty until it is filled. */
async function preload(text: string) {
  const folder = await mkdtemp(join(tmpdir(), 'portal-preload-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const module = join(folder, 'module.mjs');
  await writeFile(module, text);
  const env: NodeJS.ProcessEnv = { LOG: join(folder, 'starts') };
  const program = await keep(
    `process.on('SIGTERM', () => process.exit());
     setInterval(() => {}, 1000);
     process.send({ type: 'ready', url: process.env.ADDRESS });`,
    { preload: pathToFileURL(module).href, env: () => env },
  );
  return { ...program, env, log: () => readFile(join(folder, 'starts'), 'utf8').catch(() => '') };
}

it('starts a preloaded program with the settings of now, and a replaced one at once', async () => {
  const { child, messages, ready, env, log } = await preload(
    `import { appendFileSync } from 'node:fs'; appendFileSync(process.env.LOG, 'module ');`,
  );
  await eventually(async () => expect(await log()).toBe('module '));
  // Not before `begin`
  child.replace();
  env['ADDRESS'] = 'http://127.0.0.1:2';
  child.begin();
  await eventually(() => expect(ready).toEqual(['http://127.0.0.1:2']));
  env['ADDRESS'] = 'http://127.0.0.1:3';
  child.replace();
  await eventually(() => expect(ready).toEqual(['http://127.0.0.1:2', 'http://127.0.0.1:3']));
  expect(await log()).toBe('module xx');
  expect(messages).toEqual([]);
});

it('starts a program that ended while it was preloaded', async () => {
  const { child, messages, ready, env, log } = await preload(
    `import { appendFileSync } from 'node:fs'; appendFileSync(process.env.LOG, process.pid + ' '); process.exit(3);`,
  );
  await eventually(async () => expect(await log()).toMatch(/^\d+ $/));
  const pid = Number(await log());
  // Until the supervisor has noticed, the process remains as a zombie
  await eventually(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));
  env['ADDRESS'] = 'http://127.0.0.1:2';
  child.begin();
  await eventually(() => expect(ready).toEqual(['http://127.0.0.1:2']));
  expect(messages).toEqual([]);
});

it('stops a preloaded program that was never started', async () => {
  const { child, messages, ready, log } = await preload(
    `import { appendFileSync } from 'node:fs'; appendFileSync(process.env.LOG, 'module ');`,
  );
  await eventually(async () => expect(await log()).toBe('module '));
  await child.stop(20_000);
  expect(ready).toEqual([]);
  expect(messages).toEqual([]);
});
