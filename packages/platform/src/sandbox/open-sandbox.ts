import { availableParallelism } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { unavailable } from '@portal/domain/errors';
import { MINUTE, SECOND } from '@portal/domain/time';
import { openSemaphore } from '../semaphore.ts';
import { FairShare, type TaskOwner } from './fair-share.ts';
import { partsOf } from './message.ts';
import { SandboxProcess } from './sandbox-process.ts';
import { type Task, TaskError } from './task.ts';

export interface Sandbox {
  /**
   * Runs a task in another process. Pass large data as bytes, which do not block the event loop. Tenants share the processes by time used.
   * Throws the task's own refusal (a PortalError), a TaskError, or 503 if too many tasks wait or this one waits longer than `until` (on the
   * clock of `performance.now()`).
   */
  run<Input, Output>(task: Task<Input, Output>, input: Input, owner: TaskOwner, until?: number): Promise<Output>;
  /** Seconds until a tenant that has exceeded its time budget may start more tasks; null if it may now. */
  secondsUntilBudget(owner: TaskOwner): number | null;
  /** Ends all processes, including busy ones. */
  close(): Promise<void>;
}

export interface SandboxLimits {
  /** Maximum processes. */
  processes?: number;
  /** Maximum waiting tasks, each with its input in memory. */
  queueLimit?: number;
  /** Maximum waiting tasks of one tenant. */
  tenantQueueLimit?: number;
  /** How long a task may wait. */
  waitMs?: number;
  /** Process time that a tenant may use; past use counts half after a minute. */
  tenantBudgetMs?: number;
  /** JavaScript heap per process. */
  heapMb?: number;
  /** How long a process may take to start and to load the code of a task. */
  loadMs?: number;
  /** A process that handles damaged or hostile input is replaced after this many tasks. A new one takes thirty tasks to become as fast. */
  tasksEach?: number;
  /** How long an idle process is kept. */
  warmMs?: number;
  /** A process that uses more after a task is ended. */
  maxIdleMemoryMb?: number;
}

/** Starting a process holds the event loop for 10 to 30 ms, so only one starts in each of its turns. */
const startInTurn = openSemaphore({ slots: 1 });

/**
 * A few processes for work on uploads that may crash, hang or fill the memory; only that one task then fails. The first task starts the
 * first process; idle processes stay warm for a minute.
 */
export function openSandbox({
  processes = Math.min(availableParallelism(), 2),
  queueLimit = 40,
  tenantQueueLimit = Math.ceil(queueLimit / 4),
  waitMs = Infinity,
  tenantBudgetMs = MINUTE,
  heapMb = 128,
  loadMs = 30 * SECOND,
  tasksEach = 1_000,
  warmMs = MINUTE,
  maxIdleMemoryMb = 150,
}: SandboxLimits = {}): Sandbox {
  const refusal = () => unavailable('The server is busy right now. Please try again in a few seconds.');
  const turns = new FairShare({ slots: processes, queueLimit, tenantQueueLimit, refusal });
  const all = new Set<SandboxProcess>();
  let isClosed = false;
  const idle: { child: SandboxProcess; timer: NodeJS.Timeout }[] = [];

  async function take(): Promise<SandboxProcess> {
    for (let warm = idle.pop(); warm; warm = idle.pop()) {
      clearTimeout(warm.timer);
      if (warm.child.isAlive) return warm.child;
      void drop(warm.child);
    }
    return startInTurn(async () => {
      await nextTurn();
      if (isClosed) throw refusal();
      const child = new SandboxProcess({ heapMb, loadMs });
      all.add(child);
      return child;
    });
  }

  function giveBack(child: SandboxProcess): void {
    if (!child.isAlive || child.tasks >= tasksEach || child.residentMb > maxIdleMemoryMb) {
      void drop(child);
      return;
    }
    const timer = setTimeout(() => {
      idle.splice(
        idle.findIndex((warm) => warm.child === child),
        1,
      );
      void drop(child);
    }, warmMs);
    timer.unref();
    idle.push({ child, timer });
  }

  async function drop(child: SandboxProcess): Promise<void> {
    await child.end();
    all.delete(child);
  }

  async function attempt<Input, Output>({ limits }: Task<Input, Output>, order: Uint8Array[]): Promise<Output> {
    for (;;) {
      const child = await take();
      const isFresh = child.tasks === 0;
      try {
        return (await child.run(order, limits)) as Output;
      } catch (error) {
        // An earlier task in this process may have caused the crash.
        const isOwn = isFresh || !(error instanceof TaskError) || !['crashed', 'memory'].includes(error.reason);
        if (isOwn) throw error;
      } finally {
        giveBack(child);
      }
    }
  }

  return {
    run: async (task, input, owner, until = performance.now() + waitMs) => {
      const order = partsOf({ module: task.module.href, input });
      return turns.run(owner, task.module.href, () => attempt(task, order), until);
    },
    secondsUntilBudget: (owner) => turns.secondsUntil(owner, tenantBudgetMs),
    close: async () => {
      isClosed = true;
      await Promise.all([...all].map(drop));
    },
  };
}
