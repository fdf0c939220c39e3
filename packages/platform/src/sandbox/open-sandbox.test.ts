import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { run } from '@portal/testing/sandbox-task';
import { mixInHostileTasks } from '@portal/testing/scenarios/hostile-tasks';
import type { Whose } from './fair-share.ts';
import { openSandbox, type SandboxLimits } from './open-sandbox.ts';
import { type Task, taskOf } from './task.ts';

const limits = { timeoutMs: 60_000, maxMemoryMb: 1_000, maxOutputBytes: 10_000_000 };
const module = new URL('../../../testing/src/sandbox-task.ts', import.meta.url);
const task = taskOf<typeof run>(module, limits);
const impatient = taskOf<typeof run>(module, { ...limits, timeoutMs: 1_500 });
const frugal = taskOf<typeof run>(module, { ...limits, maxMemoryMb: 150 });

function open(given: SandboxLimits = {}) {
  const apart = openSandbox({ processes: 2, queueLimit: 2_000, ...given });
  onTestFinished(() => apart.close());
  return {
    ...apart,
    run: <Input, Output>(order: Task<Input, Output>, input: Input, whose: Whose = { tenantId: 'a' }) =>
      apart.run(order, input, whose),
  };
}
const pidOf = async (apart: ReturnType<typeof open>) =>
  ((await apart.run(task, { act: 'settings' })) as { pid: number }).pid;

const isLinux = process.platform === 'linux';
async function children(): Promise<number[]> {
  const lists = await Promise.all(
    (await readdir('/proc/self/task')).map((thread) => readFile(`/proc/self/task/${thread}/children`, 'utf8')),
  );
  return lists.join(' ').split(' ').filter(Boolean).map(Number);
}

describe('a task', () => {
  it('gets and gives plain data and bytes as they are', async () => {
    const apart = open();
    const values = [
      'Grüße',
      undefined,
      null,
      { list: [1, 2n, new Date(0)], map: new Map([['a', new Set([1])]]), text: 'x'.repeat(100_000) },
      Buffer.alloc(0),
      { first: Buffer.from('one'), second: [Buffer.from('two'), Buffer.alloc(5_000_000, 7)], rest: 'three' },
    ];
    for (const value of values) expect(await apart.run(task, { act: 'echo', value })).toEqual(value);
    const view = Buffer.from('a part of a larger one').subarray(2, 6);
    expect(await apart.run(task, { act: 'echo', value: view })).toEqual(Buffer.from('part'));
  });

  it('refuses in its own words, and its mistakes are told apart from that', async () => {
    const apart = open({ processes: 1 });
    const pid = await pidOf(apart);
    await expect(apart.run(task, { act: 'refuse' })).rejects.toMatchObject({
      name: 'PortalError',
      kind: 'invalid',
      code: 'UNSUPPORTED_IMAGE',
      message: 'This is not taken.',
      details: [{ path: 'file', message: 'is odd' }],
    });
    await expect(apart.run(task, { act: 'throw' })).rejects.toMatchObject({
      name: 'TaskError',
      reason: 'threw',
      message: expect.stringContaining('a mistake'),
    });
    await expect(apart.run(task, { act: 'echo', value: () => 1 })).rejects.toThrow();
    await expect(apart.run(task, { act: 'echo', value: new Float64Array(1) })).rejects.toThrow('bytes');
    expect(await pidOf(apart)).toBe(pid);
  });

  it('knows none of our settings', async () => {
    process.env['A_SECRET'] = 'x';
    const { env } = (await open().run(task, { act: 'settings' })) as { env: string[] };
    // A place for compiled code, no setting of ours.
    expect(env.filter((name) => name !== 'NODE_COMPILE_CACHE')).toEqual([]);
    delete process.env['A_SECRET'];
  });

  it.each([
    ['die', 'crashed'],
    ['exit', 'crashed'],
    ['hang', 'timeout'],
    ['fill-heap', 'memory'],
    ...(isLinux ? ([['fill-memory', 'memory']] as const) : []),
    ['answer-much', 'output'],
  ] as const)('asked to %s fails by itself: %s', async (act, reason) => {
    const apart = open({ processes: 1, heapMb: 40 });
    await expect(apart.run(act === 'hang' ? impatient : frugal, { act })).rejects.toMatchObject({
      name: 'TaskError',
      reason,
    });
    expect(await apart.run(task, { act: 'echo', value: 1 })).toBe(1);
  });

  it('is done again where an earlier one left behind what ended the process', async () => {
    const apart = open({ processes: 1 });
    expect(await apart.run(task, { act: 'die-later', ms: 200 })).toBe('fine');
    expect(await apart.run(task, { act: 'work', ms: 500, value: 'good' })).toBe('good');
  });
});

it('of two hundred tasks none is lost to twenty that kill, hang or fill their process', async () => {
  expect(await mixInHostileTasks({ count: 20 })).toEqual({ good: 200, bad: 20, violations: [] });
}, 300_000);

describe('processes', () => {
  it('are bounded, and so is who waits; the rest is told to come back', async () => {
    const apart = open({ queueLimit: 3, tenantQueueLimit: 3 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => apart.run(task, { act: 'work', ms: 50 }, { tenantId: `${n % 2}` })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array<string>(5).fill('fulfilled'),
      ...Array<string>(5).fill('rejected'),
    ]);
    expect(outcomes.at(-1)).toMatchObject({ reason: { kind: 'unavailable', retryAfterSec: 5 } });
  });

  it.runIf(isLinux)('are started by the first task, kept warm for a while, and end with the pool', async () => {
    const before = (await children()).length;
    const apart = open({ warmMs: 500 });
    expect(await children()).toHaveLength(before);
    await pidOf(apart);
    expect(await children()).toHaveLength(before + 1);
    await expect.poll(async () => (await children()).length).toBe(before);
    await Promise.all([pidOf(apart), apart.run(task, { act: 'settings' }, { tenantId: 'b' })]);
    await apart.close();
    expect(await children()).toHaveLength(before);
  });

  it('are replaced after a number of tasks, and after a crash', async () => {
    const apart = open({ processes: 1, tasksEach: 3 });
    const pids = [];
    for (let n = 0; n < 7; n += 1) pids.push(await pidOf(apart));
    expect(new Set(pids).size).toBe(3);
    await expect(apart.run(task, { act: 'die' })).rejects.toThrow();
    expect(pids).not.toContain(await pidOf(apart));
  });
});

describe('tenants', () => {
  it(
    'wait for the task at work of another one at most, and of the queue each has a part',
    { timeout: 60_000 },
    async () => {
      const apart = open({ queueLimit: 40, tenantQueueLimit: 10 });
      const ended: string[] = [];
      const work = async (ms: number, whose: Whose) => {
        await apart.run(task, { act: 'work', ms }, whose);
        ended.push(whose.ownerId ?? '');
      };
      const greedy = Array.from({ length: 30 }, (_, n) => work(200, { tenantId: 'a', ownerId: `greedy ${n % 3}` }));
      const outcomes = Promise.allSettled(greedy);
      const modest = Array.from({ length: 5 }, () => work(10, { tenantId: 'b', ownerId: 'modest' }));
      await Promise.all(modest);
      expect(ended.filter((owner) => owner !== 'modest').length).toBeLessThan(11);
      const statuses = (await outcomes).map(({ status }) => status);
      expect(statuses.filter((status) => status === 'fulfilled')).toHaveLength(11);
      expect(await outcomes).toContainEqual(
        expect.objectContaining({ reason: expect.objectContaining({ kind: 'unavailable', retryAfterSec: 5 }) }),
      );
    },
  );

  it('have their invoices read while feeds of the platform hang', { timeout: 60_000 }, async () => {
    const apart = open();
    const patient = taskOf<typeof run>(module, { ...limits, timeoutMs: 5_000 });
    let isHanging = true;
    const feeds = Promise.allSettled(
      Array.from({ length: 3 }, () => apart.run(patient, { act: 'hang' }, { tenantId: null, ownerId: 'rss:one' })),
    ).finally(() => (isHanging = false));
    expect(await apart.run(task, { act: 'echo', value: 'invoice' }, { tenantId: 'b' })).toBe('invoice');
    expect(isHanging).toBe(true);
    await apart.close();
    await feeds;
  });

  it('have used up their budget once they have had the processes for so long, each its own', async () => {
    const apart = open({ tenantBudgetMs: 100 });
    expect(apart.secondsUntilBudget({ tenantId: 'a' })).toBeNull();
    await apart.run(task, { act: 'work', ms: 300 });
    expect(apart.secondsUntilBudget({ tenantId: 'a', ownerId: 'anna' })).toBeGreaterThan(0);
    expect(apart.secondsUntilBudget({ tenantId: 'b' })).toBeNull();
  });
});
