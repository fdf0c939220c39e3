import { z } from 'zod';
import { needs } from '@portal/domain/access';
import {
  CloudInstance,
  CloudInstanceChange,
  CloudTransition,
  maxCloudInstances,
  NewCloudInstance,
} from '@portal/domain/cloud-status/instances';
import { Id, PathId } from '@portal/domain/ids';
import {
  createCloudInstance,
  deleteCloudInstance,
  listCloudInstances,
  updateCloudInstance,
} from '@portal/usecases/cloud-status/instances';
import { subscribe, unsubscribe } from '@portal/usecases/cloud-status/subscriptions';
import { listTransitions, TransitionCursor } from '@portal/usecases/cloud-status/transitions';
import { pageQuery, sendPage } from '../paging.ts';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['cloud-status'];
const use = needs('cloud-status', 'USE');
const manage = needs('cloud-status', 'MANAGE');

const ById = z.object({ id: PathId });

/** The instances themselves, their bells, and how they have changed. */
export function registerCloudInstances(app: App): void {
  app.get(
    '/cloud-status/instances',
    {
      config: { access: use },
      schema: {
        operationId: 'listCloudInstances',
        tags,
        summary: 'List the cloud instances',
        description:
          'All of them, by the name of the customer, each with its light and how its version is judged today.',
        response: { 200: z.array(CloudInstance) },
      },
    },
    (request) => listCloudInstances(request.ctx),
  );

  app.post(
    '/cloud-status/instances',
    {
      config: { access: manage, errors: { 409: ['LIMIT_REACHED'] } },
      schema: {
        operationId: 'createCloudInstance',
        tags,
        summary: 'Add a cloud instance',
        description: `\`statusUrl\` may be the address of the cloud, of its sign-in page or of \`status.php\`. It is checked every hour, at a time of its own within the hour; check it by hand not to wait for the first time. ${maxCloudInstances.toLocaleString('en')} a tenant.`,
        body: NewCloudInstance,
        response: { 201: CloudInstance },
      },
    },
    (request) => createCloudInstance(request.ctx, request.body),
  );

  app.patch(
    '/cloud-status/instances/:id',
    {
      config: { access: manage },
      schema: {
        operationId: 'updateCloudInstance',
        tags,
        summary: 'Change a cloud instance',
        description:
          'Changes what is named. At another address it is checked within a minute or so; until then it stands as it did. One that is switched off is no longer checked by itself, and nobody is told of it.',
        params: ById,
        body: CloudInstanceChange,
        response: { 200: CloudInstance },
      },
    },
    (request) => updateCloudInstance(request.ctx, request.params.id, request.body),
  );

  app.delete(
    '/cloud-status/instances/:id',
    {
      config: { access: manage },
      schema: {
        operationId: 'deleteCloudInstance',
        tags,
        summary: 'Delete a cloud instance',
        description: 'With its logo and its transitions. A mail about it that was not sent yet is not sent.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => deleteCloudInstance(request.ctx, request.params.id),
  );

  app.put(
    '/cloud-status/instances/:id/subscription',
    {
      config: { access: use },
      schema: {
        operationId: 'subscribe',
        tags,
        summary: 'Switch the bell of a cloud instance on',
        description:
          'From the next failure on the caller gets a mail when it is reported and one when it is over. On already is fine.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => subscribe(request.ctx, request.params.id),
  );

  app.delete(
    '/cloud-status/instances/:id/subscription',
    {
      config: { access: use },
      schema: {
        operationId: 'unsubscribe',
        tags,
        summary: 'Switch the bell of a cloud instance off',
        description: 'Holds for mails that were not sent yet, too. Off already is fine.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => unsubscribe(request.ctx, request.params.id),
  );

  app.get(
    '/cloud-status/transitions',
    {
      config: { access: use, errors: { 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'listTransitions',
        tags,
        summary: 'List how reported states have changed',
        description:
          'Newest first, of all instances or of one. Kept for 400 days, and as long as the instance is there.',
        querystring: z.object({ ...pageQuery({ after: TransitionCursor }), instanceId: Id.optional() }),
        response: { 200: z.array(CloudTransition) },
      },
    },
    async (request, reply) => {
      const { limit, cursor, instanceId } = request.query;
      return sendPage(reply, await listTransitions(request.ctx, { limit, after: cursor, instanceId }));
    },
  );
}
