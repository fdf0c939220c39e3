import { z } from 'zod';
import { open } from '@portal/domain/access';
import { unavailable } from '@portal/domain/errors';
import { Instant } from '@portal/domain/time';
import type { SystemContext } from '@portal/platform/context';
import type { Runtime } from '@portal/platform/runtime';
import type { App } from '../zod-app.ts';
import { type Checks, sharedCheck } from './readiness.ts';

const tags = ['operations'];
const access = open('load balancers and operators call it without an account');

const Reachability = z.enum(['ok', 'unreachable']);

/** Liveness, readiness and the running release. */
export function registerHealth(app: App, runtime: Runtime): void {
  const check = sharedCheck(runtime);
  app.get(
    '/health',
    {
      config: { access },
      schema: {
        operationId: 'getHealth',
        tags,
        summary: 'Check whether the service is alive',
        description: 'Does not check anything else, neither the database nor the queue.',
        response: { 200: z.object({ status: z.literal('ok'), timestamp: Instant }) },
      },
    },
    (request, reply) => {
      reply.send({ status: 'ok', timestamp: request.system.now() });
    },
  );

  app.get(
    '/health/ready',
    {
      config: { access, errors: { 503: ['UNAVAILABLE'] } },
      schema: {
        operationId: 'getReadiness',
        tags,
        summary: 'Check whether the service can work',
        description:
          '`degraded` if only the job queue is unavailable: everything except background work continues. 503 if the database is unavailable.',
        response: {
          200: z.object({
            status: z.enum(['ok', 'degraded']),
            timestamp: Instant,
            checks: z.object({ database: Reachability, queue: Reachability }),
          }),
        },
      },
    },
    (request) => answerReadiness(check, request.system),
  );

  app.get(
    '/health/version',
    {
      config: { access },
      schema: {
        operationId: 'getVersion',
        tags,
        summary: 'Get the running release',
        description: 'Set by the image build; `dev` if the service runs from source.',
        response: {
          200: z
            .object({
              name: z.string(),
              version: z.string(),
              channel: z.string(),
              commit: z.string(),
              buildTime: z.string(),
            })
            .meta({
              example: {
                name: 'portal',
                version: '1.4.0',
                channel: 'live',
                commit: '3f2c1ab',
                buildTime: '2026-11-20T08:30:00Z',
              },
            }),
        },
      },
    },
    (_request, reply) => {
      reply.send(runtime.config.release);
    },
  );
}

async function answerReadiness(check: () => Promise<Checks>, system: SystemContext) {
  const { database, queue } = await check();
  if (database) throw unavailable('The database cannot be reached right now.', database.cause);
  const checks = { database: 'ok', queue: queue ? 'unreachable' : 'ok' } as const;
  return { status: queue ? ('degraded' as const) : ('ok' as const), timestamp: system.now(), checks };
}
