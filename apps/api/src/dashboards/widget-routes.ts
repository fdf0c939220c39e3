import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { DashboardWidget, NewWidget, NewWidgetOfTab, WidgetChange } from '@portal/domain/dashboards/widgets';
import { PathId } from '@portal/domain/ids';
import { addWidget, changeWidget, listWidgets, removeWidget } from '@portal/usecases/dashboards/widgets';
import { type App, type ErrorCodes, NoContent } from '../zod-app.ts';

const tags = ['dashboards'];
const access = signedIn;

const addErrors = {
  400: ['INVALID_WIDGET_TYPE'],
  403: ['MODULE_DISABLED', 'MODULE_ACCESS_DENIED'],
  404: ['NOT_FOUND'],
  409: ['LIMIT_REACHED'],
} satisfies ErrorCodes;
const addDescription =
  'A dashboard holds 60 at most. A widget that shows a module needs that module to be open to the caller (403); it stays, empty, when the grant is lost. What can be configured depends on the type; unknown keys are refused. What it names must be there (404): pictures, calendars and saved searches of one’s own, servers and cloud instances of the tenant. What is deleted later is taken out of it.';

/** What stands on the own dashboards. */
export function registerWidgets(app: App): void {
  app.get(
    '/dashboard/tabs/:id/widgets',
    {
      config: { access },
      schema: {
        operationId: 'listWidgets',
        tags,
        summary: 'List the widgets of a dashboard',
        description: 'In the order they were made; where they stand is said by the layout.',
        params: z.object({ id: PathId }),
        response: { 200: z.array(DashboardWidget) },
      },
    },
    (request) => listWidgets(request.ctx, request.params.id),
  );

  app.post(
    '/dashboard/tabs/:id/widgets',
    {
      config: { access, errors: addErrors },
      schema: {
        operationId: 'addTabWidget',
        tags,
        summary: 'Add a widget to a dashboard',
        description: addDescription,
        params: z.object({ id: PathId }),
        body: NewWidget,
        response: { 201: DashboardWidget },
      },
    },
    (request) => addWidget(request.ctx, { tabId: request.params.id, ...request.body }),
  );

  app.post(
    '/dashboard/widgets',
    {
      config: { access, errors: addErrors },
      schema: {
        operationId: 'addWidget',
        tags,
        summary: 'Add a widget to the dashboard the body names',
        description: addDescription,
        body: NewWidgetOfTab,
        response: { 201: DashboardWidget },
      },
    },
    (request) => addWidget(request.ctx, request.body),
  );

  app.patch(
    '/dashboard/widgets/:id',
    {
      config: { access, errors: { 409: ['LIMIT_REACHED'] } },
      schema: {
        operationId: 'changeWidget',
        tags,
        summary: 'Configure or move a widget',
        description:
          'A configuration replaces the one before as a whole. `tabId` moves the widget to another own dashboard: it keeps its favorites, gives up its place in the layout it leaves, and has none yet where it arrives.',
        params: z.object({ id: PathId }),
        body: WidgetChange,
        response: { 200: DashboardWidget },
      },
    },
    (request) => changeWidget(request.ctx, request.params.id, request.body),
  );

  app.delete(
    '/dashboard/widgets/:id',
    {
      config: { access },
      schema: {
        operationId: 'removeWidget',
        tags,
        summary: 'Remove a widget',
        description: 'With its favorites and its place in the layout, whose revision rises.',
        params: z.object({ id: PathId }),
        response: { 204: NoContent },
      },
    },
    (request) => removeWidget(request.ctx, request.params.id),
  );
}
