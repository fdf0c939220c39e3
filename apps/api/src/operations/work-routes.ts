import { z } from 'zod';
import { role, signedIn } from '@portal/domain/access';
import { Id } from '@portal/domain/ids';
import { Instant } from '@portal/domain/time';
import { getRun } from '@portal/usecases/operations/get-run';
import { listJobs } from '@portal/usecases/operations/list-jobs';
import { type App, ById } from '../zod-app.ts';

const tags = ['operations'];

export const Run = z
  .object({
    id: Id,
    kind: z.string(),
    state: z.enum(['queued', 'running', 'succeeded', 'failed']),
    startedAt: Instant.nullable(),
    finishedAt: Instant.nullable(),
    progress: z.object({ done: z.int(), total: z.int() }).nullable(),
    error: z.string().nullable().describe('One sentence if it failed'),
  })
  .meta({
    id: 'Run',
    description: 'Background work started by a user or by the portal.',
    example: {
      id: '0198d3c9-1c2d-7e3f-8a4b-5c6d7e8f9a0b',
      kind: 'directory.sync',
      state: 'running',
      startedAt: '2026-11-20T08:30:00.000Z',
      finishedAt: null,
      progress: { done: 120, total: 450 },
      error: null,
    },
  });

const Job = z
  .object({
    queue: z.string(),
    name: z.string(),
    schedule: z.string().nullable().describe('When it runs automatically; null if it has no schedule'),
    lastRunAt: Instant.nullable(),
    lastState: z.enum(['succeeded', 'failed']).nullable(),
    lastDurationMs: z.int().nullable(),
    nextRunAt: Instant.nullable(),
    waiting: z.int(),
    active: z.int(),
    failed: z.int(),
    lastFailure: z
      .object({ at: Instant, reason: z.string() })
      .nullable()
      .describe('The newest failed job that the queue keeps, and why it failed; at most 500 characters'),
  })
  .meta({
    id: 'Job',
    example: {
      queue: 'upkeep',
      name: 'mails.sweep',
      schedule: 'every 10 s',
      lastRunAt: '2026-11-20T08:30:00.000Z',
      lastState: 'succeeded',
      lastDurationMs: 12,
      nextRunAt: '2026-11-20T08:30:10.000Z',
      waiting: 0,
      active: 0,
      failed: 0,
      lastFailure: null,
    },
  });

/** Background work: the state of a run, and all kinds of jobs. */
export function registerWork(app: App): void {
  app.get(
    '/runs/:id',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'getRun',
        tags,
        summary: 'Get the state of a run',
        description:
          'You see the runs you started; administrators see all runs of their tenant, and a SUPER_ADMIN also those of the platform.',
        params: ById,
        response: { 200: Run },
      },
    },
    (request) => getRun(request.ctx, request.params.id),
  );

  app.get(
    '/admin/jobs',
    {
      config: { access: role('SUPER_ADMIN') },
      schema: {
        operationId: 'listJobs',
        tags,
        summary: 'List all kinds of background jobs',
        description:
          'Each kind with its schedule, its last run, and how many of its jobs are waiting, running and failed.',
        response: { 200: z.array(Job) },
      },
    },
    (request) => listJobs(request.ctx),
  );
}
