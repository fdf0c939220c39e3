import { z } from 'zod';
import { role, signedIn } from '@portal/domain/access';
import { ActiveModule, CatalogModule, Module, modules } from '@portal/domain/modules/modules';
import { listActiveModules } from '@portal/usecases/modules/active-modules';
import { listModules, setModuleEnabled } from '@portal/usecases/modules/modules';
import type { App } from '../zod-app.ts';

const tags = ['modules'];

/** Which modules there are, which of them a tenant has, and which of those the caller may open. */
export function registerTenantModules(app: App): void {
  app.get(
    '/modules',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'listModules',
        tags,
        summary: 'List the modules of the tenant',
        description: 'Every built-in module, whether it is on for the tenant, and the category it stands in.',
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
        description: 'What the product has to offer, the same for every tenant.',
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
        summary: 'List what you may open',
        description:
          'Built-in modules that are on and granted to you or a group of yours, shared custom modules and your own, in the order of the sidebar: by category, in each the built-in ones first, then the custom ones by `sortOrder` and name. Administrators hold MANAGE on every module that is on.',
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
          'For the whole tenant, administrators included: calls of a module that is off answer 403 `MODULE_DISABLED`. Its data and grants stay.',
        params: z.object({ key: z.string() }),
        body: z.object({ enabled: z.boolean() }).meta({ example: { enabled: false } }),
        response: { 200: Module },
      },
    },
    (request) => setModuleEnabled(request.ctx, request.params.key, request.body.enabled),
  );
}
