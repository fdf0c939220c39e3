import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { role } from '@portal/domain/access';
import { HOUR, SECOND } from '@portal/domain/time';
import type { App } from '../zod-app.ts';

const home = '/admin/queues';
const access = role('SUPER_ADMIN');

// Everything comes from this server. The board's scripts create style elements, so inline styles are allowed; inline scripts are not.
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/** The queue board: its page, its files and their requests, all for a SUPER_ADMIN only. */
export function registerQueueBoard(app: App): void {
  app.get(
    home,
    {
      config: { access },
      schema: {
        operationId: 'getQueueBoard',
        tags: ['operations'],
        summary: 'Browse the job queues',
        description: 'A read-only page with all queues and their jobs. 503 while the queues are unavailable.',
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
  // The files are part of the release and contain no data.
  if (path.startsWith('/static/')) reply.header('cache-control', `private, max-age=${HOUR / SECOND}`);
  await reply.type(type).send(body);
}
