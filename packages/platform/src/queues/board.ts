import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import { queueNames } from '../jobs/job.ts';
import type { Queues } from './queues.ts';

/** The read-only board over all queues: a Fastify server that does not listen, because the library needs one to register with. */
export async function openBoard(queues: Queues, basePath: string): Promise<FastifyInstance> {
  const opened = await Promise.all(queueNames.map((name) => queues.queue(name)));
  const adapter = new FastifyAdapter().setBasePath(basePath);
  createBullBoard({
    queues: opened.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'Portal queues',
        // Workers share connections between queues, so the library cannot tell which queues they work.
        showWorkers: false,
      },
      handlerHooks: {
        before: ({ request }) => (isBounded(request.query) ? undefined : { allow: false, status: 400 }),
      },
    },
  });
  const server = Fastify({ logger: false });
  await server.register(adapter.registerPlugin());
  return server;
}

/** The library does not limit how many jobs a request reads. */
const maxValues: Record<string, number> = { jobsPerPage: 200, page: 100_000 };
const isBounded = (query: Record<string, unknown> = {}): boolean =>
  Object.entries(maxValues).every(([name, max]) => !(Number(query[name]) > max));
