import { setTimeout as pause } from 'node:timers/promises';
import type { WorkerProcess } from './worker-process.ts';

/** One process after the other, each killed with SIGKILL at a step that is seen from outside, or at a random instant for `any`. */
export function killedAtSteps<Step extends string>({
  start,
  maxMs,
  deadline,
}: {
  start: () => WorkerProcess;
  /** How long a life is at most that ends at a random instant. */
  maxMs: number;
  deadline: number;
}) {
  let life: WorkerProcess | null = null;
  let reach: (step: Step) => void | Promise<void> = () => undefined;
  return {
    /** To be told of each step; what comes after the one that is waited for is held up until the process is dead. */
    reach: (step: Step) => reach(step),
    /** The process there is, or a new one. */
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
      if ((await Promise.race([reached.promise, current.endedByItself, late])) === 'late')
        throw new Error(`there was no time left to wait for the step ${step}`);
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
