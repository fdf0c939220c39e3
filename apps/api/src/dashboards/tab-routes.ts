import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { DashboardLayout, isPlainLayoutInput, LayoutInput } from '@portal/domain/dashboards/grid';
import { DashboardTab, maxTabs, TabName } from '@portal/domain/dashboards/tabs';
import { PathId } from '@portal/domain/ids';
import { reorderBody } from '@portal/domain/reorder';
import { getLayout } from '@portal/usecases/dashboards/layout';
import { saveLayout } from '@portal/usecases/dashboards/save-layout';
import { createTab, deleteTab, listTabs, orderTabs, renameTab } from '@portal/usecases/dashboards/tabs';
import { type App, NoContent, readPlainBodies } from '../zod-app.ts';

const tags = ['dashboards'];
const access = signedIn;

const layoutMaxBytes = 512 * 1024;

/** The own dashboards and how each is laid out. */
export function registerTabs(app: App): void {
  app.get(
    '/dashboard/tabs',
    {
      config: { access },
      schema: {
        operationId: 'listTabs',
        tags,
        summary: 'List the own dashboards',
        description: 'In their order. Who has none gets the first one with this call.',
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
          'Behind the others, 20 at most. Without a name it is called `Dashboard N` with the lowest number that is free. Two may have the same name.',
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
        summary: 'Put the own dashboards into another order',
        description:
          'Takes the ids of all of them, each once, bare or as `ids`, and answers the list in its new order.',
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
        description: 'Two may have the same name.',
        params: z.object({ id: PathId }),
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
        description: 'With its widgets and their favorites; the others close the gap. The last one stays.',
        params: z.object({ id: PathId }),
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
        summary: 'The layout of a dashboard',
        description:
          'Where each widget stands, for five widths of the page: `lg`, `md`, `sm`, `xs` and `xxs` with 24, 20, 12, 8 and 2 columns; a row is 20 px high, 8 px from the next. Until one is saved all are empty and the revision is 0. A layout saved for the older, half as fine grid is converted once, here, and keeps its revision. If `__gridVersion` is above the version a client knows, that client must not edit.',
        params: z.object({ id: PathId }),
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
          'Items are widgets of this dashboard, at most once in a breakpoint, inside the columns of the grid named by `__gridVersion`: 2, or 1 with 12, 10, 6, 4 and 2 columns, which is also what a missing one means. Any widget may be left out, and a breakpoint left out stays as it was. Send the `revision` last read, and a change made elsewhere in the meantime is not overwritten (409 `LAYOUT_CHANGED`, which is checked before the items); without it the last save wins. At most 512 KiB.',
        params: z.object({ id: PathId }),
        body: LayoutInput,
        response: { 200: DashboardLayout },
      },
    },
    (request) => saveLayout(request.ctx, request.params.id, request.body),
  );
}
