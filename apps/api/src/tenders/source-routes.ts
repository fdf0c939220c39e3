import { z } from 'zod';
import { needs, role } from '@portal/domain/access';
import { TenderSource } from '@portal/domain/tenders/feeds';
import { runScope } from '@portal/platform/runs/scope';
import { getRun } from '@portal/usecases/operations/get-run';
import { listSources, runSource } from '@portal/usecases/tenders/sources';
import { Run } from '../operations/work-routes.ts';
import { answerRun, StartedRun, waitsFor } from '../started-run.ts';
import type { App } from '../zod-app.ts';

const tags = ['tenders'];

/** The sources of tenders. */
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
        description: `Answers 202 at once; \`GET /runs/{id}\` shows the progress. ${waitsFor('it')} 409 while the source is being read. 404 for a source that is switched off and for the alert mailbox, which is read automatically.`,
        params: z.object({ key: z.string() }),
        response: {
          200: Run,
          202: StartedRun,
        },
      },
    },
    async (request, reply) => {
      const { ctx } = request;
      const started = await runSource(ctx, request.params.key);
      const scope = runScope(ctx, null);
      return answerRun(request, reply, started, { scope, result: () => getRun(ctx, started.runId) });
    },
  );
}
