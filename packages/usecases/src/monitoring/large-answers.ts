import { ServerFailure } from '@portal/connectors/servers/server-failure';
import type { LargeAnswers } from '@portal/connectors/servers/server-session';
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

/** Their own process: what users upload waits behind no monitored server. All that have room fit its queue, though each asks side by side. */
const opened = resource(() => ({
  inRoom: openSemaphore(jobLimits.largeServerAnswers),
  apart: openSandbox({ processes: 1, queueLimit: 100, tenantQueueLimit: 50 }),
}));

/** Room for the large answers of a tenant’s servers, and a process that reads them. */
export function largeAnswersFor(ctx: TenantContext): LargeAnswers {
  const { inRoom, apart } = opened(ctx);
  return {
    hold: (signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const untilEnd = () =>
        new Promise<void>((leave) => {
          resolve();
          if (signal.aborted) leave();
          else signal.addEventListener('abort', () => leave(), { once: true });
        });
      inRoom(untilEnd, { key: ctx.tenantId, signal }).catch(reject);
      return promise;
    },
    read: async (order, host) => {
      try {
        const kept = await apart.run(reading, order, { tenantId: ctx.tenantId });
        return { answer: JSON.parse(Buffer.from(kept).toString()) as ReadAnswer, bytes: kept.byteLength };
      } catch (error) {
        if (!(error instanceof TaskError) || error.fault === 'program') throw error;
        throw new ServerFailure('antwortform', `${host} answered with more than can be read.`, error);
      }
    },
  };
}
