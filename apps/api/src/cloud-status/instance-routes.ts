import { z } from 'zod';
import { needs } from '@portal/domain/access';
import {
  CloudInstance,
  CloudInstanceChange,
  CloudOverview,
  CloudTransition,
  maxCloudInstances,
  maxOverviewClouds,
  NewCloudInstance,
} from '@portal/domain/cloud-status/instances';
import { Id } from '@portal/domain/ids';
import {
  createCloudInstance,
  deleteCloudInstance,
  listCloudInstances,
  overviewOfClouds,
  updateCloudInstance,
} from '@portal/usecases/cloud-status/instances';
import { subscribe, unsubscribe } from '@portal/usecases/cloud-status/subscriptions';
import { listTransitions, TransitionCursor } from '@portal/usecases/cloud-status/transitions';
import { pageQuery, sendPage } from '../paging.ts';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['cloud-status'];
const use = needs('cloud-status', 'USE');
const manage = needs('cloud-status', 'MANAGE');

/** The instances, their subscriptions and their changes. */
export function registerCloudInstances(app: App): void {
  app.get(
    '/cloud-status/instances',
    {
      config: { access: use },
      schema: {
        operationId: 'listCloudInstances',
        tags,
        summary: 'List the cloud instances',
        description: 'All instances, by customer name, each with its light and the current rating of its version.',
        response: { 200: z.array(CloudInstance) },
      },
    },
    (request) => listCloudInstances(request.ctx),
  );

  app.get(
    '/cloud-status/overview',
    {
      config: { access: use },
      schema: {
        operationId: 'overviewOfClouds',
        tags,
        summary: 'Count the cloud instances by light',
        description:
          'How many instances have each light, and the first of them, the worst first. A page of thousands of instances begins with it.',
        querystring: z.object({ limit: z.coerce.number().int().min(1).max(maxOverviewClouds).default(24) }),
        response: { 200: CloudOverview },
      },
    },
    (request) => overviewOfClouds(request.ctx, request.query.limit),
  );

  app.post(
    '/cloud-status/instances',
    {
      config: { access: manage, errors: { 409: ['LIMIT_REACHED'] } },
      schema: {
        operationId: 'createCloudInstance',
        tags,
        summary: 'Add a cloud instance',
        description: `\`statusUrl\` may be the address of the cloud, of its sign-in page or of \`status.php\`. The instance is checked every hour, at its own minute; for a first result at once, start a check by hand. A tenant can have ${maxCloudInstances.toLocaleString('en')} instances.`,
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
          'Changes only the fields that are sent. If the address changes, the instance is checked within about a minute; until then its state does not change. An instance that is switched off is no longer checked automatically, and no mails are sent about it.',
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
        description: 'Also deletes its logo and its transitions. A mail about it that was not sent yet is cancelled.',
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
        summary: 'Subscribe to failure mails of a cloud instance',
        description:
          'The caller gets a mail when the next failure is reported and another when it is over. Subscribing twice has no further effect.',
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
        summary: 'Unsubscribe from failure mails of a cloud instance',
        description: 'Also cancels mails not sent yet. Succeeds if not subscribed.',
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
        summary: 'List changes of reported states',
        description:
          'Newest first, for all instances or for one. Changes are kept for 400 days, but not longer than the instance exists.',
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
