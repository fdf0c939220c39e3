import type { Area } from '@portal/platform/area';
import { filesHandlers } from '@portal/platform/files/handlers';
import type { Handler } from '@portal/platform/jobs/handler';
import { operationsHandlers } from '@portal/platform/operations/handlers';
import { outboxHandlers } from '@portal/platform/outbox/handlers';
import { cloudStatusHandlers } from './cloud-status/handlers.ts';
import { dashboardHandlers } from './dashboards/handlers.ts';
import { directoryHandlers } from './directory/handlers.ts';
import { invoiceHandlers } from './invoices/handlers.ts';
import { monitoringHandlers } from './monitoring/handlers.ts';
import { reminderHandlers } from './reminders/handlers.ts';
import { tenderHandlers } from './tenders/handlers.ts';

/** The job handlers of these areas, for the worker. The API knows the jobs, but does not load the handlers, which take 0.2 s and 30 MB. */
export const handlersFor = (areas: readonly Area[]): Handler[] => [
  ...dashboardHandlers,
  ...directoryHandlers,
  ...reminderHandlers,
  ...cloudStatusHandlers,
  ...monitoringHandlers,
  ...invoiceHandlers,
  ...tenderHandlers,
  ...outboxHandlers(areas),
  ...filesHandlers(areas),
  ...operationsHandlers(areas),
];
