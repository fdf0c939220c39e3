import { availableParallelism } from 'node:os';
import { unavailable } from '@portal/domain/errors';
import { MINUTE } from '@portal/domain/time';
import { FairShare, type Whose } from './fair-share.ts';
import { partsOf } from './message.ts';
import { SandboxProcess } from './sandbox-process.ts';
import { type Task, TaskError } from './task.ts';

export interface Sandbox {
  /**
   * Does a task in another process. What is large in input and output has to be bytes, which the event loop does not wait for.
   * Tenants share the processes by the time they use them. Throws what the task refused (a PortalError), a TaskError, or 503 when too
   * many others wait, or it waits for too long itself: `until` then, by `performance.now()`.
   */
  run<Input, Output>(task: Task<Input, Output>, input: Input, whose: Whose, until?: number): Promise<Output>;
  /** Seconds until a tenant that has used more than its share of time may ask for more; null while it may. */
  secondsUntilBudget(whose: Whose): number | null;
  /** Ends every process, also those at work. */
  close(): Promise<void>;
}

export interface SandboxLimits {
  /** Processes at once. */
  processes?: number;
  /** Tasks that may wait for one, each with its input in memory. */
  queueLimit?: number;
  /** Of these, those of one tenant. */
  tenantQueueLimit?: number;
  /** How long each may wait. */
  waitMs?: number;
  /** Time of processes a tenant may have used lately, of which half counts no more after a minute. */
  tenantBudgetMs?: number;
  /** JavaScript heap of each. */
  heapMb?: number;
  /** What runs on damaged or hostile input is begun anew now and then. */
  tasksEach?: number;
  /** How long an idle process is kept. */
  warmMs?: number;
  /** One that holds more after a task is not kept. */
  keptMemoryMb?: number;
}

/**
 * A few processes for work that may crash, hang or fill its memory, because of what people upload: it then ends as the failure of that
 * one task. None is started before the first task; idle ones stay warm for a minute.
 */
export function openSandbox({
  processes = Math.min(availableParallelism(), 2),
  queueLimit = 40,
  tenantQueueLimit = Math.ceil(queueLimit / 4),
  waitMs = Infinity,
  tenantBudgetMs = MINUTE,
  heapMb = 128,
  tasksEach = 1_000,
  warmMs = MINUTE,
  keptMemoryMb = 150,
}: SandboxLimits = {}): Sandbox {
  const refusal = () => unavailable('Too much is being worked on right now. Please try again in a few seconds.');
  const turns = new FairShare({ slots: processes, queueLimit, tenantQueueLimit, refusal });
  const all = new Set<SandboxProcess>();
  let isClosed = false;
  const idle: { apart: SandboxProcess; timer: NodeJS.Timeout }[] = [];

  function take(): SandboxProcess {
    if (isClosed) throw refusal();
    for (let kept = idle.pop(); kept; kept = idle.pop()) {
      clearTimeout(kept.timer);
      if (kept.apart.isAlive) return kept.apart;
      void drop(kept.apart);
    }
    const apart = new SandboxProcess(heapMb);
    all.add(apart);
    return apart;
  }

  function giveBack(apart: SandboxProcess): void {
    if (!apart.isAlive || apart.tasks >= tasksEach || apart.heldMb > keptMemoryMb) {
      void drop(apart);
      return;
    }
    const timer = setTimeout(() => {
      idle.splice(
        idle.findIndex((kept) => kept.apart === apart),
        1,
      );
      void drop(apart);
    }, warmMs);
    timer.unref();
    idle.push({ apart, timer });
  }

  async function drop(apart: SandboxProcess): Promise<void> {
    await apart.end();
    all.delete(apart);
  }

  async function attempt<Input, Output>({ limits }: Task<Input, Output>, order: Uint8Array[]): Promise<Output> {
    for (;;) {
      const apart = take();
      const isFresh = apart.tasks === 0;
      try {
        return (await apart.run(order, limits)) as Output;
      } catch (error) {
        // Something an earlier task left behind may have ended it.
        const isOwn = isFresh || !(error instanceof TaskError) || !['crashed', 'memory'].includes(error.reason);
        if (isOwn) throw error;
      } finally {
        giveBack(apart);
      }
    }
  }

  return {
    run: async (task, input, whose, until = performance.now() + waitMs) => {
      const order = partsOf({ module: task.module.href, input });
      return turns.run(whose, task.module.href, () => attempt(task, order), until);
    },
    secondsUntilBudget: (whose) => turns.secondsUntil(whose, tenantBudgetMs),
    close: async () => {
      isClosed = true;
      await Promise.all([...all].map(drop));
    },
  };
}
