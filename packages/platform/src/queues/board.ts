import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import Fastify from 'fastify';
import { newId } from '@portal/domain/ids';
import { queueNames } from '../jobs/job.ts';
import type { Log } from '../log.ts';
import type { Board, BoardAnswer, BoardRequest } from './lazy-board.ts';
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
        after: ({ request }, answer) => shown(answer, request.query['status'] === 'failed'),
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

  async function answer({ method, path }: BoardRequest): Promise<BoardAnswer> {
    const id = newId();
    const { statusCode, headers, rawPayload } = await server.inject({
      method,
      url: path || '/',
      headers: { 'x-asked': id },
    });
    const failure = failures.get(id);
    if (failures.delete(id)) throw failure;
    const type = headers['content-type'] ?? '';
    return { status: statusCode, type, body: type.startsWith('text/html') ? ourPage(rawPayload) : rawPayload };
  }

  return {
    async ask(request) {
      // The page asks no queue yet, and shows none where it should say that they are away.
      if (!request.path.startsWith('/static/')) await queues.ping();
      return answer(request);
    },
    close: () => server.close(),
  };
}

/** The library reads as many jobs at once as it is asked for. */
const most: Record<string, number> = { jobsPerPage: 200, page: 100_000 };
const isBounded = (query: Record<string, unknown> = {}): boolean =>
  Object.entries(most).every(([name, max]) => !(Number(query[name]) > max));

/**
 * The library's buttons are there for a queue or not. So queues are shown to be read, but where failed jobs are listed; and of the
 * buttons there, those stay that try again and remove: the first and the last of a job's.
 */
const style =
  "<style>[class^='jobActions-'] > li:not(:first-child, :last-child), [class^='trailing-'] > button[aria-haspopup] { display: none }</style>";

/** The library's page without letters from elsewhere. */
const ourPage = (page: Buffer): Buffer =>
  Buffer.from(
    page
      .toString('utf8')
      .replaceAll(/<link\b(?:(?!href=)[^<>])*href="https?:[^<>]*>/g, '')
      .replace('</head>', `${style}</head>`),
  );

/** Where in the code something failed is for the log. */
const shown = <Answer>(answer: Answer, listsFailed: boolean): Answer =>
  JSON.parse(JSON.stringify(answer), (key, value) => {
    if (key === 'stacktrace') return [];
    return key === 'readOnlyMode' ? !listsFailed : value;
  }) as Answer;
