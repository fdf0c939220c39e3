import { z } from 'zod';
import { role, signedIn } from '@portal/domain/access';
import { ActiveModule, CatalogModule, Module, modules } from '@portal/domain/modules/modules';
import { listActiveModules } from '@portal/usecases/modules/active-modules';
import { listModules, setModuleEnabled } from '@portal/usecases/modules/modules';
import type { App } from '../zod-app.ts';

const tags = ['modules'];

/** All modules, those of a tenant, and those the caller may open. */
export function registerTenantModules(app: App): void {
  app.get(
    '/modules',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'listModules',
        tags,
        summary: 'List the modules of the tenant',
        description: 'Lists every built-in module, whether it is switched on for the tenant, and its category.',
        response: { 200: z.array(Module) },
      },
    },
    (request) => listModules(request.ctx),
  );

  app.get(
    '/modules/catalog',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'getModuleCatalog',
        tags,
        summary: 'Describe every module',
        description: 'The product’s built-in modules. The list is the same for every tenant.',
        response: { 200: z.array(CatalogModule) },
      },
    },
    () => Promise.resolve([...modules]),
  );

  app.get(
    '/modules/active',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'listActiveModules',
        tags,
        summary: 'List the modules you may open',
        description:
          'Lists built-in modules that are switched on and granted to you or to one of your groups, shared custom modules, and your own custom modules. They come in the order of the sidebar: by category, and within a category first the built-in modules, then the custom modules by `sortOrder` and name. Administrators have MANAGE on every module that is switched on.',
        response: { 200: z.array(ActiveModule) },
      },
    },
    (request) => listActiveModules(request.ctx),
  );

  app.patch(
    '/modules/:key',
    {
      config: { access: role('ADMIN') },
      schema: {
        operationId: 'setModuleEnabled',
        tags,
        summary: 'Switch a module on or off',
        description:
          'Applies to the whole tenant, including administrators: calls of a module that is switched off answer 403 `MODULE_DISABLED`. Its data and grants are kept.',
        params: z.object({ key: z.string() }),
        body: z.object({ enabled: z.boolean() }).meta({ example: { enabled: false } }),
        response: { 200: Module },
      },
    },
    (request) => setModuleEnabled(request.ctx, request.params.key, request.body.enabled),
  );
}
