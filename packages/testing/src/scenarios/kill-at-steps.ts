import { setTimeout as pause } from 'node:timers/promises';
import type { WorkerProcess } from './worker-process.ts';

/** Runs one process after the other and kills each with SIGKILL: at a step that is visible from outside, or for `any` at random. */
export function killedAtSteps<Step extends string>({
  start,
  maxMs,
  deadline,
}: {
  start: () => WorkerProcess;
  /** Maximum lifetime of a process that is killed at a random instant. */
  maxMs: number;
  deadline: number;
}) {
  let life: WorkerProcess | null = null;
  let reach: (step: Step) => void | Promise<void> = () => undefined;
  return {
    /** Call it at each step; at the awaited step its promise resolves only after the process is dead. */
    reach: (step: Step) => reach(step),
    /** The running process, or a new one. */
    live: (): WorkerProcess => (life ??= start()),
    async killAt(step: Step): Promise<void> {
      const current = (life ??= start());
      const reached = Promise.withResolvers<void>();
      const kill = async () => {
        reached.resolve();
        current.child.kill('SIGKILL');
        await current.ended;
      };
      if (step === 'any') void pause(Math.random() * maxMs).then(kill);
      else {
        reach = async (now) => {
          if (now !== step) return;
          reach = () => undefined;
          await kill();
        };
      }
      const late = pause(Math.max(0, deadline - performance.now()), 'late', { ref: false });
      if ((await Promise.race([reached.promise, current.unexpectedEnd, late])) === 'late')
        throw new Error(`the deadline passed while waiting for the step ${step}`);
      await current.ended;
      life = null;
    },
    async end(): Promise<void> {
      reach = () => undefined;
      life?.child.kill('SIGKILL');
      await life?.ended;
    },
  };
}
