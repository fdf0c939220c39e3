import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { Dashboard } from '@portal/domain/dashboards/dashboard';
import { DashboardLayout, isPlainLayoutInput, LayoutInput } from '@portal/domain/dashboards/grid';
import { DashboardTab, maxTabs, TabName } from '@portal/domain/dashboards/tabs';
import { Id } from '@portal/domain/ids';
import { reorderBody } from '@portal/domain/reorder';
import { getDashboard } from '@portal/usecases/dashboards/dashboard';
import { getLayout } from '@portal/usecases/dashboards/layout';
import { saveLayout } from '@portal/usecases/dashboards/save-layout';
import { createTab, deleteTab, listTabs, orderTabs, renameTab } from '@portal/usecases/dashboards/tabs';
import { type App, ById, NoContent, readPlainBodies } from '../zod-app.ts';

const tags = ['dashboards'];
const access = signedIn;

const layoutMaxBytes = 512 * 1024;

/** A user's own dashboards and their layouts. */
export function registerTabs(app: App): void {
  app.get(
    '/dashboard',
    {
      config: { access },
      schema: {
        operationId: 'getDashboard',
        tags,
        summary: 'Get one of your own dashboards, with its layout, widgets and favorites',
        description:
          'In one answer what a page shows first: the list of all your dashboards, the layout, the widgets and the favorites of one of them, which is the first one unless `tabId` names another, and the list of your pictures. The first call of an account without dashboards creates one.',
        querystring: z.object({ tabId: Id.optional().describe('The dashboard; the first one if left out') }),
        response: { 200: Dashboard },
      },
    },
    (request) => getDashboard(request.ctx, request.query.tabId),
  );

  app.get(
    '/dashboard/tabs',
    {
      config: { access },
      schema: {
        operationId: 'listTabs',
        tags,
        summary: 'List your own dashboards',
        description: 'Dashboards in display order. The first call of an account without dashboards creates one.',
        response: { 200: z.array(DashboardTab) },
      },
    },
    (request) => listTabs(request.ctx),
  );

  app.post(
    '/dashboard/tabs',
    {
      config: { access, errors: { 409: ['TAB_LIMIT'] } },
      schema: {
        operationId: 'createTab',
        tags,
        summary: 'Add a dashboard',
        description:
          'The new dashboard is placed last. An account has at most 20. Without a name it is called `Dashboard N`, with the lowest free number. Two dashboards may have the same name.',
        body: z
          .object({ name: TabName.optional() })
          .nullish()
          .meta({ example: { name: 'Leitstelle' } }),
        response: { 201: DashboardTab },
      },
    },
    (request) => createTab(request.ctx, request.body?.name),
  );

  app.put(
    '/dashboard/tabs/order',
    {
      config: { access },
      schema: {
        operationId: 'orderTabs',
        tags,
        summary: 'Reorder your own dashboards',
        description:
          'Send the ids of all your dashboards, each once, as a bare array or as `{ids}`. Returns the list in its new order.',
        body: reorderBody({}, maxTabs).meta({ example: { ids: ['0198d3c4-1c2d-7e3f-8a4b-5c6d7e8f9a0b'] } }),
        response: { 200: z.array(DashboardTab) },
      },
    },
    (request) => orderTabs(request.ctx, request.body.ids),
  );

  app.patch(
    '/dashboard/tabs/:id',
    {
      config: { access },
      schema: {
        operationId: 'renameTab',
        tags,
        summary: 'Rename a dashboard',
        description: 'Two dashboards may have the same name.',
        params: ById,
        body: z.object({ name: TabName }).meta({ example: { name: 'Leitstelle' } }),
        response: { 200: DashboardTab },
      },
    },
    (request) => renameTab(request.ctx, request.params.id, request.body.name),
  );

  app.delete(
    '/dashboard/tabs/:id',
    {
      config: { access, errors: { 409: ['LAST_TAB'] } },
      schema: {
        operationId: 'deleteTab',
        tags,
        summary: 'Delete a dashboard',
        description:
          'Also deletes its widgets and their favorites; the positions of the other dashboards close the gap. The last dashboard cannot be deleted.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => deleteTab(request.ctx, request.params.id),
  );

  app.get(
    '/dashboard/tabs/:id/layout',
    {
      config: { access },
      schema: {
        operationId: 'getLayout',
        tags,
        summary: 'Get the layout of a dashboard',
        description:
          'The place of each widget for five breakpoints: `lg`, `md`, `sm`, `xs` and `xxs` with 24, 20, 12, 8 and 2 columns; a row is 20 px high, with 8 px to the next row. Until a layout is saved, all breakpoints are empty and `revision` is 0. This call converts a layout of the older, coarser grid once and keeps its revision. A client that does not know the returned `__gridVersion` must not save the layout.',
        params: ById,
        response: { 200: DashboardLayout },
      },
    },
    (request) => getLayout(request.ctx, request.params.id),
  );

  app.put(
    '/dashboard/tabs/:id/layout',
    {
      bodyLimit: layoutMaxBytes,
      validatorCompiler: readPlainBodies(isPlainLayoutInput),
      config: { access, errors: { 409: ['GRID_VERSION_NEWER', 'LAYOUT_CHANGED'] } },
      schema: {
        operationId: 'saveLayout',
        tags,
        summary: 'Save the layout of a dashboard',
        description:
          'Each item is a widget of this dashboard, at most once in a breakpoint, and must fit into the columns of the grid named by `__gridVersion`: 2 has 24, 20, 12, 8 and 2 columns, 1 has 12, 10, 6, 4 and 2. If `__gridVersion` is missing, it is 1. Widgets may be left out; a breakpoint that is left out does not change. Send the `revision` you read last, so that a change made elsewhere in the meantime is not overwritten (409 `LAYOUT_CHANGED`, which is checked before the items); without `revision` the last save wins. The body has at most 512 KiB.',
        params: ById,
        body: LayoutInput,
        response: { 200: DashboardLayout },
      },
    },
    (request) => saveLayout(request.ctx, request.params.id, request.body),
  );
}
