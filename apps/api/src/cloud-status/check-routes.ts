import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { CloudInstance } from '@portal/domain/cloud-status/instances';
import { Id, PathId } from '@portal/domain/ids';
import { waitForOperation } from '@portal/platform/operations/wait';
import { checkCloudInstance, startCheckOfAll } from '@portal/usecases/cloud-status/check-by-hand';
import { listCloudInstances } from '@portal/usecases/cloud-status/instances';
import { preferenceApplied, preferredWait } from '../prefer.ts';
import type { App } from '../zod-app.ts';

const tags = ['cloud-status'];

/** Checks by hand. */
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
          'Returns the instance after the check. An instance that is switched off can be checked, too, but its light stays grey. The check counts like any other: the second failure in a row is reported. An instance can be checked once every ten seconds.',
        params: z.object({ id: PathId }),
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
        description:
          'Answers 202 at once and goes on in the background; if such a run is already under way, its id is returned. With `Prefer: wait=N` (RFC 7240, at most 25 s) it waits that long and, once the run is over, answers the list with status 200. Allowed once every ten seconds per tenant.',
        response: {
          200: z.array(CloudInstance),
          202: z
            .object({ runId: Id })
            .meta({ example: { runId: '0198d3d2-6b7c-7d8e-9f0a-1b2c3d4e5f60' } })
            .describe('Started; `GET /runs/{id}` shows how it goes'),
        },
      },
    },
    async (request, reply) => {
      const { ctx } = request;
      const started = await startCheckOfAll(ctx);
      const seconds = preferredWait(request);
      if (seconds === null) return reply.status(202).send(started);
      preferenceApplied(reply, seconds);
      return (await waitForOperation(ctx, started.runId, seconds))
        ? reply.status(200).send(await listCloudInstances(ctx))
        : reply.status(202).send(started);
    },
  );
}
