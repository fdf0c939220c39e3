import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { DashboardWidget, NewWidget, NewWidgetOfTab, WidgetChange } from '@portal/domain/dashboards/widgets';
import { addWidget, changeWidget, listWidgets, removeWidget } from '@portal/usecases/dashboards/widgets';
import { type App, ById, type ErrorCodes, NoContent } from '../zod-app.ts';

const tags = ['dashboards'];
const access = signedIn;

const addErrors = {
  400: ['INVALID_WIDGET_TYPE'],
  403: ['MODULE_DISABLED', 'MODULE_ACCESS_DENIED'],
  404: ['NOT_FOUND'],
  409: ['LIMIT_REACHED'],
} satisfies ErrorCodes;
const addDescription =
  'A dashboard has at most 60 widgets. To add a widget that shows a module, the caller needs access to that module (403); if the access is lost later, the widget stays but is empty. The configuration depends on the type; unknown keys are refused. Everything the configuration refers to must exist (404): your own pictures, calendars and saved searches, and servers and cloud instances of the tenant. If one of these is deleted later, it is removed from the configuration.';

/** The widgets of a user's own dashboards. */
export function registerWidgets(app: App): void {
  app.get(
    '/dashboard/tabs/:id/widgets',
    {
      config: { access },
      schema: {
        operationId: 'listWidgets',
        tags,
        summary: 'List the widgets of a dashboard',
        description: 'Widgets in the order they were added. Their places are in the layout.',
        params: ById,
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
        params: ById,
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
        summary: 'Add a widget to the dashboard named in the body',
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
          'A new `config` replaces the old one completely. `tabId` moves the widget to another of your dashboards: it keeps its favorites, is removed from the layout of the old dashboard, and has no place yet in the layout of the new one.',
        params: ById,
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
        description: 'Also deletes its favorites and removes it from the layout, whose `revision` is raised.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => removeWidget(request.ctx, request.params.id),
  );
}
