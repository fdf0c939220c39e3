import { z } from 'zod';
import { needs, role } from '@portal/domain/access';
import { Id } from '@portal/domain/ids';
import { TenderSource } from '@portal/domain/tenders/feeds';
import { operationScope } from '@portal/platform/operations/scope';
import { waitForOperation } from '@portal/platform/operations/wait';
import { getRun } from '@portal/usecases/operations/get-run';
import { listSources, runSource } from '@portal/usecases/tenders/sources';
import { Run } from '../operations/work-routes.ts';
import { preferenceApplied, preferredWait } from '../prefer.ts';
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
        summary: 'List the sources with their status',
        description:
          'The sources in the settings of the service, then the caller’s alert mailbox, the platform feeds and the caller’s own feeds.',
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
          'Answers 202 at once; `GET /runs/{id}` shows the progress. With `Prefer: wait=N` (RFC 7240, at most 25 s) it waits that long and, once the run is over, answers it with status 200. 409 while the source is being read. 404 for a source that is switched off and for the alert mailbox, which is read automatically.',
        params: z.object({ key: z.string() }),
        response: {
          200: Run,
          202: z
            .object({ runId: Id })
            .meta({ example: { runId: '0198d3cd-4c5d-7e6f-8a7b-9c0d1e2f3a4b' } })
            .describe('Started'),
        },
      },
    },
    async (request, reply) => {
      const { ctx } = request;
      const started = await runSource(ctx, request.params.key);
      const seconds = preferredWait(request);
      if (seconds === null) return reply.status(202).send(started);
      preferenceApplied(reply, seconds);
      return (await waitForOperation(operationScope(ctx, null), started.runId, seconds))
        ? reply.status(200).send(await getRun(ctx, started.runId))
        : reply.status(202).send(started);
    },
  );
}
