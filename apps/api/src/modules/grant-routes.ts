import { role } from '@portal/domain/access';
import { GrantMatrix, GrantTarget, ModuleGrant } from '@portal/domain/modules/grants';
import { deleteGrant, grantMatrix, setGrant } from '@portal/usecases/modules/grants';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['modules'];
const access = role('ADMIN');

/** Grants to use or manage a module. */
export function registerModuleGrants(app: App): void {
  app.get(
    '/module-grants/matrix',
    {
      config: { access },
      schema: {
        operationId: 'grantMatrix',
        tags,
        summary: 'Show all grants',
        description:
          'Lists every group, by name, and every account that has a grant of its own, by username, each with its level for each module. Accounts that have modules only through groups are not listed here; see `GET /users`.',
        response: { 200: GrantMatrix },
      },
    },
    (request) => grantMatrix(request.ctx),
  );

  app.put(
    '/module-grants',
    {
      config: { access, errors: { 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'setGrant',
        tags,
        summary: 'Grant a module or change the level of a grant',
        description:
          'Grants the module to an account or to a group; directory groups are allowed, too. The default level is USE. If several grants apply, MANAGE wins. The change takes effect with the next request. 404 if the account, the group or the module does not exist.',
        body: ModuleGrant,
        response: { 200: ModuleGrant },
      },
    },
    (request) => setGrant(request.ctx, request.body),
  );

  app.delete(
    '/module-grants',
    {
      config: { access, errors: { 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'deleteGrant',
        tags,
        summary: 'Revoke a grant',
        description: 'Takes effect with the next request. 404 if the grant does not exist.',
        querystring: GrantTarget,
        response: { 204: NoContent },
      },
    },
    (request) => deleteGrant(request.ctx, request.query),
  );
}
