import { z } from 'zod';
import { needs, role } from '@portal/domain/access';
import { Id } from '@portal/domain/ids';
import { TenderSource } from '@portal/domain/tenders/feeds';
import { listSources, runSource } from '@portal/usecases/tenders/sources';
import type { App } from '../zod-app.ts';

const tags = ['tenders'];

/** Where tenders come from. */
export function registerTenderSources(app: App): void {
  app.get(
    '/tenders/sources',
    {
      config: { access: needs('tender-radar', 'USE') },
      schema: {
        operationId: 'listTenderSources',
        tags,
        summary: 'List the sources with how they are',
        description: 'Those of the settings, then the caller’s alert mailbox, feeds of everybody and the caller’s own.',
        response: { 200: z.array(TenderSource) },
      },
    },
    (request) => listSources(request.ctx),
  );

  app.post(
    '/tenders/sources/:key/run',
    {
      config: { access: role('SUPER_ADMIN'), errors: { 409: ['CONFLICT'] } },
      schema: {
        operationId: 'runTenderSource',
        tags,
        summary: 'Read a source now',
        description:
          'Answers 202 at once; `GET /runs/{id}` shows how it goes. 409 while the source is being read, 404 for one that is switched off and for the mailbox, which is read by itself.',
        params: z.object({ key: z.string() }),
        response: {
          202: z
            .object({ runId: Id })
            .meta({ example: { runId: '0198d3cd-4c5d-7e6f-8a7b-9c0d1e2f3a4b' } })
            .describe('Started'),
        },
      },
    },
    async (request, reply) => reply.status(202).send(await runSource(request.ctx, request.params.key)),
  );
}
