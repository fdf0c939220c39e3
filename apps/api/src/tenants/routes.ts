import { z } from 'zod';
import { role } from '@portal/domain/access';
import { Tenant, TenantName } from '@portal/domain/tenants/tenants';
import { createTenant, deleteTenant, getTenant, listTenants, updateTenant } from '@portal/usecases/tenants/tenants';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['tenants'];
const access = role('SUPER_ADMIN');

/** Routes for tenants; only a SUPER_ADMIN may call them. */
export function registerTenants(app: App): void {
  app.get(
    '/tenants',
    {
      config: { access },
      schema: {
        operationId: 'listTenants',
        tags,
        summary: 'List tenants',
        description: 'All tenants, by name, each with its number of accounts.',
        response: { 200: z.array(Tenant) },
      },
    },
    (request) => listTenants(request.ctx),
  );

  app.post(
    '/tenants',
    {
      config: { access, errors: { 409: ['TENANT_NAME_TAKEN'] } },
      schema: {
        operationId: 'createTenant',
        tags,
        summary: 'Create a tenant',
        description: 'Names must be unique regardless of case.',
        body: z
          .object({ name: TenantName, isActive: z.boolean().default(true) })
          .meta({ example: { name: 'Stadtwerke Beispiel' } }),
        response: { 201: Tenant },
      },
    },
    (request) => createTenant(request.ctx, request.body),
  );

  app.get(
    '/tenants/:id',
    {
      config: { access },
      schema: {
        operationId: 'getTenant',
        tags,
        summary: 'Get a tenant',
        description: 'Includes the number of its accounts.',
        params: ById,
        response: { 200: Tenant },
      },
    },
    (request) => getTenant(request.ctx, request.params.id),
  );

  app.patch(
    '/tenants/:id',
    {
      config: { access, errors: { 409: ['TENANT_NAME_TAKEN', 'OWN_TENANT', 'LAST_SUPER_ADMIN'] } },
      schema: {
        operationId: 'updateTenant',
        tags,
        summary: 'Rename, deactivate or activate a tenant',
        description:
          'Accounts of an inactive tenant are signed out and cannot sign in; its mails and jobs are paused until it is active again. Refused if no active SUPER_ADMIN of an active tenant would remain.',
        params: ById,
        body: z
          .object({ name: TenantName.optional(), isActive: z.boolean().optional() })
          .meta({ example: { isActive: false } }),
        response: { 200: Tenant },
      },
    },
    (request) => updateTenant(request.ctx, request.params.id, request.body),
  );

  app.delete(
    '/tenants/:id',
    {
      config: { access, errors: { 409: ['TENANT_HAS_ACTIVE_USERS'] } },
      schema: {
        operationId: 'deleteTenant',
        tags,
        summary: 'Delete a tenant',
        description: 'Also deletes everything that belongs to it. Refused while it has an active account.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => deleteTenant(request.ctx, request.params.id),
  );
}
