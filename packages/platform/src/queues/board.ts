import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import Fastify from 'fastify';
import { newId } from '@portal/domain/ids';
import { queueNames } from '../jobs/job.ts';
import type { Log } from '../log.ts';
import type { Board } from './lazy-board.ts';
import type { Queues } from './queues.ts';

/** Where the API serves it: the page names its files from there. */
const basePath = '/admin/queues';

/** The board over all queues. It is a server of its own, which listens nowhere, only because its library wants one to register with. */
export async function openBoard(queues: Queues, log: Log): Promise<Board> {
  const opened = await Promise.all(queueNames.map((name) => queues.queue(name)));
  const adapter = new FastifyAdapter().setBasePath(basePath);
  createBullBoard({
    queues: opened.map((queue) => new BullMQAdapter(queue)),
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'Portal queues',
        // Workers share connections between queues, so which of these they work cannot be told from the connections.
        showWorkers: false,
      },
      handlerHooks: {
        before: ({ request }) => (isBounded(request.query) ? undefined : { allow: false, status: 400 }),
        after: (_context, answer) => withoutStacks(answer),
      },
    },
  });
  // What goes wrong is thrown to whoever asked: the library would answer with the words of a driver.
  adapter.setErrorHandler((error) => {
    throw error;
  });
  const failures = new Map<string, unknown>();
  const server = Fastify({ logger: false, requestIdHeader: 'x-asked' });
  server.setErrorHandler((error, request, reply) => {
    failures.set(request.id, error);
    return reply.code(500).send();
  });
  await server.register(adapter.registerPlugin());
  await server.ready();
  log.debug('the queue board is open');

  return {
    async ask({ method, path }) {
      const id = newId();
      const { statusCode, headers, rawPayload } = await server.inject({
        method,
        url: path || '/',
        headers: { 'x-asked': id },
      });
      const failure = failures.get(id);
      if (failures.delete(id)) throw failure;
      const type = headers['content-type'] ?? '';
      if (!type.startsWith('text/html')) return { status: statusCode, type, body: rawPayload };
      // The page asks no queue yet, and shows none where it should say that they are away.
      await queues.ping();
      return { status: statusCode, type, body: withoutForeignFonts(rawPayload) };
    },
    close: () => server.close(),
  };
}

/** The library reads as many jobs at once as it is asked for. */
const most: Record<string, number> = { jobsPerPage: 200, page: 100_000 };
const isBounded = (query: Record<string, unknown> = {}): boolean =>
  Object.entries(most).every(([name, max]) => !(Number(query[name]) > max));

const withoutForeignFonts = (page: Buffer): Buffer =>
  Buffer.from(page.toString('utf8').replaceAll(/<link\b[^>]*href="https?:[^>]*>/g, ''));

/** Where in the code something failed is for the log. */
const withoutStacks = <Answer>(answer: Answer): Answer =>
  JSON.parse(JSON.stringify(answer), (key, value) => (key === 'stacktrace' ? [] : value)) as Answer;
