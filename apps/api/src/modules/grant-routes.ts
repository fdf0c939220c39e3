import { role } from '@portal/domain/access';
import { GrantMatrix, GrantTarget, ModuleGrant } from '@portal/domain/modules/grants';
import { deleteGrant, grantMatrix, setGrant } from '@portal/usecases/modules/grants';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['modules'];
const access = role('ADMIN');

/** Who may use and who may manage a module. */
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
          'Every group, by name, and every account that has a grant of its own, by username, each with its level by module. Accounts that hold a module through groups alone are not listed; `GET /users` has them.',
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
          'To a group, of the directory too, or to an account; the level is USE unless said otherwise. Where several grants apply, MANAGE wins. Counts from the next request on; an unknown subject or module answers 404.',
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
        summary: 'Take a grant away',
        description: 'Counts from the next request on. A grant there is not answers 404.',
        querystring: GrantTarget,
        response: { 204: NoContent },
      },
    },
    (request) => deleteGrant(request.ctx, request.query),
  );
}
