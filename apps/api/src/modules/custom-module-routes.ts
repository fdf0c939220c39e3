import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { CustomModule, CustomModuleChange, NewCustomModule } from '@portal/domain/modules/custom-modules';
import {
  createCustomModule,
  deleteCustomModule,
  listCustomModules,
  updateCustomModule,
} from '@portal/usecases/modules/custom-modules';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['modules'];
const access = signedIn;

/** Pages listed in the sidebar like modules: shared with the tenant or private to a user. */
export function registerCustomModules(app: App): void {
  app.get(
    '/custom-modules',
    {
      config: { access },
      schema: {
        operationId: 'listCustomModules',
        tags,
        summary: 'List custom modules',
        description: 'The custom modules shared with the tenant and your own, by `sortOrder` and name.',
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
          'A custom module is an https page. It is visible only to you; an administrator can also share it with the tenant. 400 if the category does not exist. You can have at most 100 of your own, and a tenant at most 500 shared ones.',
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
          'Changes only the fields that are sent. You can change your own custom modules, and shared ones if you are an administrator. Whether a module is shared cannot be changed. 400 for null and for a category that does not exist.',
        params: ById,
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
          'You can delete your own custom modules, and shared ones if you are an administrator. A personal custom module of another user answers 404, also to administrators.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => deleteCustomModule(request.ctx, request.params.id),
  );
}
