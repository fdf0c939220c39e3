import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { PathId } from '@portal/domain/ids';
import { CustomModule, CustomModuleChange, NewCustomModule } from '@portal/domain/modules/custom-modules';
import {
  createCustomModule,
  deleteCustomModule,
  listCustomModules,
  updateCustomModule,
} from '@portal/usecases/modules/custom-modules';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['modules'];
const access = signedIn;
const params = z.object({ id: PathId });

/** Pages of the tenant’s or of one’s own that stand in the sidebar like modules. */
export function registerCustomModules(app: App): void {
  app.get(
    '/custom-modules',
    {
      config: { access },
      schema: {
        operationId: 'listCustomModules',
        tags,
        summary: 'List custom modules',
        description: 'Those shared with the tenant and your own, by `sortOrder` and name.',
        response: { 200: z.array(CustomModule) },
      },
    },
    (request) => listCustomModules(request.ctx),
  );

  app.post(
    '/custom-modules',
    {
      config: { access, errors: { 403: ['FORBIDDEN'], 409: ['LIMIT_REACHED'] } },
      schema: {
        operationId: 'createCustomModule',
        tags,
        summary: 'Add a custom module',
        description:
          'An https page, for yourself or, by an administrator, shared with the tenant. An unknown category answers 400. At most 100 of your own and 500 shared ones.',
        body: NewCustomModule,
        response: { 201: CustomModule },
      },
    },
    (request) => createCustomModule(request.ctx, request.body),
  );

  app.patch(
    '/custom-modules/:id',
    {
      config: { access, errors: { 403: ['FORBIDDEN'] } },
      schema: {
        operationId: 'updateCustomModule',
        tags,
        summary: 'Change a custom module',
        description:
          'Changes what is named: your own, or as an administrator a shared one. Whether it is shared stays as it was; null and an unknown category answer 400.',
        params,
        body: CustomModuleChange,
        response: { 200: CustomModule },
      },
    },
    (request) => updateCustomModule(request.ctx, request.params.id, request.body),
  );

  app.delete(
    '/custom-modules/:id',
    {
      config: { access, errors: { 403: ['FORBIDDEN'] } },
      schema: {
        operationId: 'deleteCustomModule',
        tags,
        summary: 'Delete a custom module',
        description:
          'Your own, or as an administrator a shared one. Another user’s own answers 404, to administrators too.',
        params,
        response: { 204: NoContent },
      },
    },
    (request) => deleteCustomModule(request.ctx, request.params.id),
  );
}
