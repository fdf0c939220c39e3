import { ServerFailure } from '@portal/connectors/servers/server-failure';
import type { LargeAnswers } from '@portal/connectors/servers/server-session';
import { isUnavailable } from '@portal/domain/errors';
import type { ReadAnswer } from '@portal/domain/monitoring/answers';
import { SECOND } from '@portal/domain/time';
import type { TenantContext } from '@portal/platform/context';
import { jobLimits } from '@portal/platform/limits';
import { resource } from '@portal/platform/resource';
import { openSandbox } from '@portal/platform/sandbox/open-sandbox';
import { TaskError, taskOf } from '@portal/platform/sandbox/task';
import { openSemaphore } from '@portal/platform/semaphore';
import type { run } from './answer-task.ts';

const reading = taskOf<typeof run>(new URL('answer-task.ts', import.meta.url), {
  timeoutMs: 10 * SECOND,
  maxMemoryMb: 300,
  maxOutputBytes: 4 * 1024 * 1024,
});

/**
 * A separate sandbox, so that uploads of users do not wait behind monitored servers. Its queue holds all answers that have memory, even
 * if every server sends several at once.
 */
const opened = resource(() => ({
  withMemory: openSemaphore(jobLimits.largeServerAnswers),
  sandbox: openSandbox({ processes: 1, queueLimit: 100, tenantQueueLimit: 50 }),
}));

/** Reserves memory for the large answers of a tenant’s servers, and reads them in a sandbox. */
export function largeAnswersFor(ctx: TenantContext): LargeAnswers {
  const { withMemory, sandbox } = opened(ctx);
  return {
    reserveMemory: (signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const untilAborted = () =>
        new Promise<void>((release) => {
          resolve();
          if (signal.aborted) release();
          else signal.addEventListener('abort', () => release(), { once: true });
        });
      withMemory(untilAborted, { key: ctx.tenantId, signal }).catch(reject);
      return promise;
    },
    read: async (order, host) => {
      try {
        const read = await sandbox.run(reading, order, { tenantId: ctx.tenantId });
        return { answer: JSON.parse(Buffer.from(read).toString()) as ReadAnswer, bytes: read.byteLength };
      } catch (error) {
        if (isBusy(error))
          throw new ServerFailure(
            'antwortform',
            `The portal was too busy to read a large answer of ${host}. Please try again.`,
            error,
          );
        if (!(error instanceof TaskError) || error.fault === 'program') throw error;
        throw new ServerFailure('antwortform', `${host} answered with more data than the portal can read.`, error);
      }
    },
  };
}

/** Whether the sandbox had no place, did not load in time or was killed from outside. None of this is the fault of the server. */
const isBusy = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof TaskError && error.fault === 'outside');
