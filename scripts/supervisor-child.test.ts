import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type ChildPlan, keepRunning } from './supervisor-child.ts';

/** Keeps a program of this text running; `starts` holds the settings each start of it saw. */
async function keep(text: string, plan: Partial<ChildPlan> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'portal-child-'));
  const said: string[] = [];
  const ready: (string | null)[] = [];
  const program = join(folder, 'program.mjs');
  const log = join(folder, 'starts');
  await writeFile(program, `import { appendFileSync } from 'node:fs'; appendFileSync(process.env.LOG, 'x');\n${text}`);
  await writeFile(log, '');
  const child = keepRunning({
    name: 'worker',
    args: [program],
    env: () => ({ LOG: log }),
    onReady: (url) => ready.push(url),
    onWrongSettings: () => said.push('wrong settings'),
    say: (line) => said.push(line),
    ...plan,
  });
  onTestFinished(async () => {
    await child.stop(0);
    await rm(folder, { recursive: true });
  });
  return { child, said, ready, starts: async () => (await readFile(log, 'utf8')).length };
}

const eventually = (assertion: () => void | Promise<void>) => vi.waitFor(assertion, { timeout: 20_000, interval: 20 });

it('hears when the program is up, and ends it kindly', async () => {
  const { child, said, ready, starts } = await keep(`
    process.on('SIGTERM', () => process.exit());
    setInterval(() => {}, 1000);
    process.send({ type: 'ready', url: 'http://127.0.0.1:1' });
    process.send({ type: 'something else' });`);
  await eventually(() => expect(ready).toEqual(['http://127.0.0.1:1']));
  await child.stop(20_000);
  expect(said).toEqual([]);
  expect(await starts()).toBe(1);
});

it('starts a program that ended again', async () => {
  const { said, starts } = await keep(`process.exit(3);`);
  await eventually(async () => expect(await starts()).toBeGreaterThanOrEqual(2));
  expect(said[0]).toBe('The worker ended (exit code 3). It is started again in 1 s.');
});

it('does not start a program again that calls its settings wrong', async () => {
  const { said, starts } = await keep(`process.exit(78);`);
  await eventually(() => expect(said).toEqual(['wrong settings']));
  expect(await starts()).toBe(1);
});

it('kills a program that does not end in time', async () => {
  const { child, said, ready } = await keep(`
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1000);
    process.send({ type: 'ready' });`);
  await eventually(() => expect(ready).toEqual([null]));
  await child.stop(50);
  expect(said).toEqual(['The worker did not end within 0.05 s and is killed.']);
});

it('replaces a program at once and without counting a failure', async () => {
  const { child, said, ready } = await keep(`
    process.on('SIGTERM', () => process.exit());
    setInterval(() => {}, 1000);
    process.send({ type: 'ready' });`);
  await eventually(() => expect(ready).toHaveLength(1));
  child.replace();
  await eventually(() => expect(ready).toHaveLength(2));
  expect(said).toEqual([]);
});
