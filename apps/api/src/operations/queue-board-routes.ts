import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { role } from '@portal/domain/access';
import { HOUR, SECOND } from '@portal/domain/time';
import type { App } from '../zod-app.ts';

const home = '/admin/queues';
const access = role('SUPER_ADMIN');

// All from this server. Its scripts make style elements, so that inline styles have to be let in; inline scripts are not.
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/** The board over the queues: its page, its files and what these ask, all for SUPER_ADMIN alone. */
export function registerQueueBoard(app: App): void {
  app.get(
    home,
    {
      config: { access },
      schema: {
        operationId: 'getQueueBoard',
        tags: ['operations'],
        summary: 'Browse the job queues',
        description: 'A page with all queues and their jobs, to look at. 503 while the queues are unavailable.',
        produces: ['text/html'],
        response: { 200: z.string().describe('The page') },
      },
    },
    answer,
  );
  app.get(`${home}/*`, { config: { access }, schema: { hide: true } }, answer);
}

async function answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const path = request.url.slice(home.length);
  const { type, body } = await request.ctx.askQueueBoard(path);
  if (type.startsWith('text/html')) reply.header('content-security-policy', pagePolicy);
  // Its files belong to the release, not to anybody.
  if (path.startsWith('/static/')) reply.header('cache-control', `private, max-age=${HOUR / SECOND}`);
  await reply.type(type).send(body);
}
