import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { CloudInstance } from '@portal/domain/cloud-status/instances';
import { checkCloudInstance, startCheckOfAll } from '@portal/usecases/cloud-status/check-by-hand';
import { listCloudInstances } from '@portal/usecases/cloud-status/instances';
import { answerRun, StartedRun, waitsFor } from '../started-run.ts';
import { type App, ById } from '../zod-app.ts';

const tags = ['cloud-status'];

/** Manual checks. */
export function registerCloudChecks(app: App): void {
  app.post(
    '/cloud-status/instances/:id/check',
    {
      config: { access: needs('cloud-status', 'USE'), errors: { 429: ['POLL_LOCKED'] } },
      schema: {
        operationId: 'checkCloudInstance',
        tags,
        summary: 'Check a cloud instance now',
        description:
          'Returns the instance after the check. An instance that is switched off can be checked as well, but its light stays grey. The check counts like any other: the second failure in a row is reported. An instance can be checked once every ten seconds.',
        params: ById,
        response: { 200: CloudInstance },
      },
    },
    (request) => checkCloudInstance(request.ctx, request.params.id),
  );

  app.post(
    '/cloud-status/check',
    {
      config: { access: needs('cloud-status', 'MANAGE'), errors: { 429: ['POLL_LOCKED'] } },
      schema: {
        operationId: 'startCheckOfAll',
        tags,
        summary: 'Check all active cloud instances now',
        description: `Answers 202 at once and continues in the background; if such a run is already under way, its id is returned. ${waitsFor('the list')} Allowed once every ten seconds per tenant.`,
        response: {
          200: z.array(CloudInstance),
          202: StartedRun,
        },
      },
    },
    async (request, reply) => {
      const { ctx } = request;
      const started = await startCheckOfAll(ctx);
      return answerRun(request, reply, started, { scope: ctx, result: () => listCloudInstances(ctx) });
    },
  );
}
