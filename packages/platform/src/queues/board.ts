import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import { queueNames } from '../jobs/job.ts';
import type { Queues } from './queues.ts';

/** The board over all queues, to be read and not changed. It is a server that listens nowhere: its library registers with one. */
export async function openBoard(queues: Queues, basePath: string): Promise<FastifyInstance> {
  const opened = await Promise.all(queueNames.map((name) => queues.queue(name)));
  const adapter = new FastifyAdapter().setBasePath(basePath);
  createBullBoard({
    queues: opened.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'Portal queues',
        // Workers share connections between queues, so which of these they work cannot be told from the connections.
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

/** The library reads as many jobs at once as it is asked for. */
const most: Record<string, number> = { jobsPerPage: 200, page: 100_000 };
const isBounded = (query: Record<string, unknown> = {}): boolean =>
  Object.entries(most).every(([name, max]) => !(Number(query[name]) > max));
