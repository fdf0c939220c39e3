import { openSandbox } from '@portal/platform/sandbox/open-sandbox';
import { type TaskError, taskOf } from '@portal/platform/sandbox/task';
import type { run } from '../sandbox-task.ts';

const limits = { timeoutMs: 60_000, maxMemoryMb: 1_000, maxOutputBytes: 10_000_000 };
const module = new URL('../sandbox-task.ts', import.meta.url);
const good = taskOf<typeof run>(module, limits);
const bad = taskOf<typeof run>(module, { ...limits, timeoutMs: 1_500 });
const acts = ['die', 'exit', 'fill-heap', 'die', 'answer-much', 'exit', 'die', 'hang', 'exit', 'die'] as const;

/**
 * Runs ten good tasks for each of `count` bad ones that kill, hang or fill their process, all queued at once. Returns their numbers and the
 * tasks that ended otherwise than expected.
 */
export async function mixInHostileTasks({ count }: { count: number }) {
  const sandbox = openSandbox({ processes: 2, queueLimit: count * 11, heapMb: 40 });
  try {
    const ownerOf = (n: number) => ({ tenantId: `${n % 8}` });
    const isBad = (n: number) => n % 11 === 5;
    const outcomes = await Promise.allSettled(
      Array.from({ length: count * 11 }, (_, n) =>
        isBad(n)
          ? sandbox.run(bad, { act: acts[Math.floor(n / 11) % acts.length] ?? 'die' }, ownerOf(n))
          : sandbox.run(good, { act: 'work', ms: 1, value: n }, ownerOf(n)),
      ),
    );
    const violations = outcomes.flatMap((outcome, n) => {
      const isRight = isBad(n)
        ? outcome.status === 'rejected' && (outcome.reason as TaskError).name === 'TaskError'
        : outcome.status === 'fulfilled' && outcome.value === n;
      return isRight ? [] : [`task ${n} ended as ${outcome.status}: ${String(Object.values(outcome)[1])}`];
    });
    return { good: count * 10, bad: count, violations };
  } finally {
    await sandbox.close();
  }
}
