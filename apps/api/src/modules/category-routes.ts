import { z } from 'zod';
import { role, signedIn } from '@portal/domain/access';
import { categoryLimit, CategoryName, ModuleCategory } from '@portal/domain/modules/categories';
import { requiredLine } from '@portal/domain/text';
import {
  assignModule,
  createCategory,
  deleteCategory,
  listCategories,
  renameCategory,
  setCategoryOrder,
} from '@portal/usecases/modules/categories';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['modules'];
const access = role('ADMIN');
const params = z.object({ key: z.string() });

const CategoryOrder = z
  .preprocess(
    (body) => (Array.isArray(body) ? { keys: body } : body),
    z.object({ keys: z.array(requiredLine()).max(categoryLimit) }),
  )
  .meta({ example: { keys: ['sales', 'infrastructure', 'accounting', 'tools'] } });

/** The headings of a tenant’s sidebar and their modules. */
export function registerModuleCategories(app: App): void {
  app.get(
    '/module-categories',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'listCategories',
        tags,
        summary: 'List the categories of modules',
        description:
          'The categories in display order, `custom-modules` last. Each one lists its built-in modules; a custom module names its own category in `category`. A new tenant has five categories.',
        response: { 200: z.array(ModuleCategory) },
      },
    },
    (request) => listCategories(request.ctx),
  );

  app.post(
    '/module-categories',
    {
      config: { access, errors: { 409: ['CONFLICT', 'LIMIT_REACHED'] } },
      schema: {
        operationId: 'createCategory',
        tags,
        summary: 'Create a category',
        description:
          'The new category is placed last, just before `custom-modules`, and its key is derived from its name. Names must be unique regardless of case. A tenant has at most 100 categories.',
        body: z.object({ name: CategoryName }).meta({ example: { name: 'Außendienst' } }),
        response: { 201: ModuleCategory },
      },
    },
    (request) => createCategory(request.ctx, request.body),
  );

  app.put(
    '/module-categories/order',
    {
      config: { access },
      schema: {
        operationId: 'setCategoryOrder',
        tags,
        summary: 'Put the categories in order',
        description:
          'Send the complete list of keys, as `{keys}` or as a bare array. `custom-modules` always stays last, whether the list contains it or not.',
        body: CategoryOrder,
        response: { 200: z.array(ModuleCategory) },
      },
    },
    (request) => setCategoryOrder(request.ctx, request.body.keys),
  );

  app.put(
    '/module-categories/assignment',
    {
      config: { access, errors: { 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'assignModule',
        tags,
        summary: 'Move a built-in module to a category',
        description:
          'Returns all categories. To move a custom module, change its `category`. 404 if the module or the category does not exist.',
        body: z
          .object({ moduleKey: requiredLine(), categoryKey: requiredLine() })
          .meta({ example: { moduleKey: 'calendar', categoryKey: 'sales' } }),
        response: { 200: z.array(ModuleCategory) },
      },
    },
    (request) => assignModule(request.ctx, request.body),
  );

  app.patch(
    '/module-categories/:key',
    {
      config: { access, errors: { 409: ['CONFLICT'] } },
      schema: {
        operationId: 'renameCategory',
        tags,
        summary: 'Rename a category',
        description: 'The key does not change. `custom-modules` can be renamed, too.',
        params,
        body: z.object({ name: CategoryName }).meta({ example: { name: 'Vertrieb' } }),
        response: { 200: ModuleCategory },
      },
    },
    (request) => renameCategory(request.ctx, request.params.key, request.body),
  );

  app.delete(
    '/module-categories/:key',
    {
      config: { access, errors: { 409: ['TARGET_REQUIRED', 'CONFLICT'] } },
      schema: {
        operationId: 'deleteCategory',
        tags,
        summary: 'Delete a category',
        description:
          'All modules of the category, including personal custom modules of other users, move to the category named by `target`. Without `target` the answer is 409 `TARGET_REQUIRED`, even if the category is empty. `custom-modules` cannot be deleted (409 `CONFLICT`).',
        params,
        querystring: z.object({
          target: requiredLine().optional().describe('Key of the category that the modules move to'),
        }),
        response: { 204: NoContent },
      },
    },
    (request) => deleteCategory(request.ctx, request.params.key, request.query.target),
  );
}
