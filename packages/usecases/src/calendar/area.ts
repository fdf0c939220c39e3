import { calendarSources } from '@portal/db/schema/calendar';
import type { Area } from '@portal/platform/area';
import { auditActions } from './audit.ts';
import { secretContext } from './stored-source.ts';

export const calendar: Area = {
  name: 'calendar',
  tags: { calendar: 'A user’s own calendars, which the portal reads from other servers, and their events.' },
  sealedColumns: (['url', 'password'] as const).map((field) => ({
    table: calendarSources,
    column: calendarSources[field],
    boundTo: calendarSources.id,
    context: secretContext(field),
  })),
  files: [{ folder: 'calendars', table: calendarSources, path: calendarSources.bodyPath }],
  auditActions,
};
