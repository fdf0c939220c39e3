import { getPriority } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { childProcesses } from '@portal/testing/child-processes';
import type { run } from '@portal/testing/sandbox-task';
import { mixInHostileTasks } from '@portal/testing/scenarios/hostile-tasks';
import type { run as runLoaded } from '@portal/testing/slow-to-load-task';
import type { TaskOwner } from './fair-share.ts';
import { openSandbox, type SandboxLimits } from './open-sandbox.ts';
import { type Task, taskOf } from './task.ts';

const limits = { timeoutMs: 60_000, maxMemoryMb: 1_000, maxOutputBytes: 10_000_000 };
const module = new URL('../../../testing/src/sandbox-task.ts', import.meta.url);
const task = taskOf<typeof run>(module, limits);
const impatient = taskOf<typeof run>(module, { ...limits, timeoutMs: 1_500 });
const frugal = taskOf<typeof run>(module, { ...limits, maxMemoryMb: 150 });

function open(given: SandboxLimits = {}) {
  const sandbox = openSandbox({ processes: 2, queueLimit: 2_000, ...given });
  onTestFinished(() => sandbox.close());
  return {
    ...sandbox,
    run: <Input, Output>(order: Task<Input, Output>, input: Input, owner: TaskOwner = { tenantId: 'a' }) =>
      sandbox.run(order, input, owner),
  };
}
const pidOf = async (sandbox: ReturnType<typeof open>) =>
  ((await sandbox.run(task, { act: 'settings' })) as { pid: number }).pid;

const isLinux = process.platform === 'linux';
describe('a task', () => {
  it('receives and returns plain data and bytes unchanged', async () => {
    const sandbox = open();
    const values = [
      'Grüße',
      undefined,
      null,
      { list: [1, 2n, new Date(0)], map: new Map([['a', new Set([1])]]), text: 'x'.repeat(100_000) },
      Buffer.alloc(0),
      { first: Buffer.from('one'), second: [Buffer.from('two'), Buffer.alloc(5_000_000, 7)], rest: 'three' },
    ];
    for (const value of values) expect(await sandbox.run(task, { act: 'echo', value })).toEqual(value);
    const view = Buffer.from('a part of a larger one').subarray(2, 6);
    expect(await sandbox.run(task, { act: 'echo', value: view })).toEqual(Buffer.from('part'));
  });

  it('passes on its own refusals and distinguishes its errors from them', async () => {
    const sandbox = open({ processes: 1 });
    const pid = await pidOf(sandbox);
    await expect(sandbox.run(task, { act: 'refuse' })).rejects.toMatchObject({
      name: 'PortalError',
      kind: 'invalid',
      code: 'UNSUPPORTED_IMAGE',
      message: 'This is not taken.',
      details: [{ path: 'file', message: 'is odd' }],
    });
    await expect(sandbox.run(task, { act: 'throw' })).rejects.toMatchObject({
      name: 'TaskError',
      reason: 'threw',
      message: expect.stringContaining('a mistake'),
    });
    await expect(sandbox.run(task, { act: 'echo', value: () => 1 })).rejects.toThrow();
    await expect(sandbox.run(task, { act: 'echo', value: new Float64Array(1) })).rejects.toThrow('bytes');
    expect(await pidOf(sandbox)).toBe(pid);
  });

  it('sees none of our settings', async () => {
    process.env['A_SECRET'] = 'x';
    const { env } = (await open().run(task, { act: 'settings' })) as { env: string[] };
    // The compile cache, not a setting of ours.
    expect(env.filter((name) => name !== 'NODE_COMPILE_CACHE')).toEqual([]);
    delete process.env['A_SECRET'];
  });

  it.each([
    ['die', 'crashed'],
    ['exit', 'crashed'],
    ['hang', 'timeout'],
    ['begin-again', 'timeout'],
    ['fill-heap', 'memory'],
    ...(isLinux ? ([['fill-memory', 'memory']] as const) : []),
    ['answer-much', 'output'],
  ] as const)('asked to %s fails by itself: %s', async (act, reason) => {
    const sandbox = open({ processes: 1, heapMb: 40 });
    await expect(sandbox.run(reason === 'timeout' ? impatient : frugal, { act })).rejects.toMatchObject({
      name: 'TaskError',
      reason,
    });
    expect(await sandbox.run(task, { act: 'echo', value: 1 })).toBe(1);
  });

  it('has its time from the moment its code is loaded, which may take long on a busy machine', async () => {
    const slowToLoad = new URL('../../../testing/src/slow-to-load-task.ts', import.meta.url);
    const sandbox = open({ processes: 1 });
    const slow = taskOf<typeof runLoaded>(slowToLoad, { ...limits, timeoutMs: 1_000 });
    expect(await sandbox.run(slow, 'first')).toBe('first');
    expect(await sandbox.run(slow, 'second')).toBe('second');
    const impatientSandbox = open({ processes: 1, loadMs: 1_000 });
    await expect(impatientSandbox.run(slow, 'third')).rejects.toMatchObject({ name: 'TaskError', fault: 'outside' });
  });

  it('is repeated if an earlier task may have caused the crash', async () => {
    const sandbox = open({ processes: 1 });
    expect(await sandbox.run(task, { act: 'die-later', ms: 200 })).toBe('fine');
    expect(await sandbox.run(task, { act: 'work', ms: 500, value: 'good' })).toBe('good');
  });
});

it('loses none of two hundred tasks to twenty that kill, hang or fill their process', async () => {
  expect(await mixInHostileTasks({ count: 20 })).toEqual({ good: 200, bad: 20, violations: [] });
}, 300_000);

describe('processes', () => {
  it('are limited, and so is the queue; other tasks are refused with a retry time', async () => {
    const sandbox = open({ queueLimit: 3, tenantQueueLimit: 3 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => sandbox.run(task, { act: 'work', ms: 50 }, { tenantId: `${n % 2}` })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array<string>(5).fill('fulfilled'),
      ...Array<string>(5).fill('rejected'),
    ]);
    expect(outcomes.at(-1)).toMatchObject({ reason: { kind: 'unavailable', retryAfterSec: 5 } });
  });

  it.runIf(isLinux)('start with the first task, stay warm for a while, and end with the sandbox', async () => {
    const before = childProcesses().length;
    const sandbox = open({ warmMs: 500 });
    expect(childProcesses()).toHaveLength(before);
    await pidOf(sandbox);
    expect(childProcesses()).toHaveLength(before + 1);
    await expect.poll(() => childProcesses().length).toBe(before);
    await Promise.all([pidOf(sandbox), sandbox.run(task, { act: 'settings' }, { tenantId: 'b' })]);
    await sandbox.close();
    expect(childProcesses()).toHaveLength(before);
  });

  it.runIf(isLinux)('start one after the other, and other work has its turn in between', async () => {
    const before = childProcesses().length;
    const sandbox = open({ processes: 6 });
    const all = Promise.all(
      Array.from({ length: 6 }, (_, n) => sandbox.run(task, { act: 'settings' }, { tenantId: `${n}` })),
    );
    const counts = [before];
    while (counts.at(-1) !== before + 6) {
      await nextTurn();
      counts.push(childProcesses().length);
    }
    await all;
    expect(
      counts
        .slice(1)
        .map((count, n) => count - (counts[n] ?? 0))
        .filter((more) => more > 1),
    ).toEqual([]);
  });

  it.runIf(isLinux)('have a lower priority than the process that waits for them', async () => {
    expect(getPriority(await pidOf(open()))).toBe(Math.min(getPriority() + 5, 19));
  });

  it('are replaced after a number of tasks, and after a crash', async () => {
    const sandbox = open({ processes: 1, tasksEach: 3 });
    const pids = [];
    for (let n = 0; n < 7; n += 1) pids.push(await pidOf(sandbox));
    expect(new Set(pids).size).toBe(3);
    await expect(sandbox.run(task, { act: 'die' })).rejects.toThrow();
    expect(pids).not.toContain(await pidOf(sandbox));
  });
});

describe('tenants', () => {
  it(
    'wait for at most one running task of another tenant, and each has a part of the queue',
    { timeout: 60_000 },
    async () => {
      const sandbox = open({ queueLimit: 40, tenantQueueLimit: 10 });
      const ended: string[] = [];
      const work = async (ms: number, owner: TaskOwner) => {
        await sandbox.run(task, { act: 'work', ms }, owner);
        ended.push(owner.ownerId ?? '');
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
    const sandbox = open();
    const patient = taskOf<typeof run>(module, { ...limits, timeoutMs: 5_000 });
    let isHanging = true;
    const feeds = Promise.allSettled(
      Array.from({ length: 3 }, () => sandbox.run(patient, { act: 'hang' }, { tenantId: null, ownerId: 'rss:one' })),
    ).finally(() => (isHanging = false));
    expect(await sandbox.run(task, { act: 'echo', value: 'invoice' }, { tenantId: 'b' })).toBe('invoice');
    expect(isHanging).toBe(true);
    await sandbox.close();
    await feeds;
  });

  it('have their own budget of process time', async () => {
    const sandbox = open({ tenantBudgetMs: 100 });
    expect(sandbox.secondsUntilBudget({ tenantId: 'a' })).toBeNull();
    await sandbox.run(task, { act: 'work', ms: 300 });
    expect(sandbox.secondsUntilBudget({ tenantId: 'a', ownerId: 'anna' })).toBeGreaterThan(0);
    expect(sandbox.secondsUntilBudget({ tenantId: 'b' })).toBeNull();
  });
});
