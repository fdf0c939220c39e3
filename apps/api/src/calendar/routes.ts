import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { CalendarEvents, EventWindow } from '@portal/domain/calendar/events';
import {
  CalendarSource,
  CalendarSourceChange,
  CalendarSourceTest,
  CalendarTestResult,
  maxSources,
  NewCalendarSource,
} from '@portal/domain/calendar/sources';
import { listEvents } from '@portal/usecases/calendar/events';
import { addSource, changeSource, deleteSource, listSources } from '@portal/usecases/calendar/sources';
import { testSource, testStoredSource } from '@portal/usecases/calendar/test-source';
import { sendJson } from '../files.ts';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['calendar'];
const access = needs('calendar', 'USE');

/** A user's calendars on other servers, and their events. */
export function registerCalendar(app: App): void {
  app.get(
    '/calendar/sources',
    {
      config: { access },
      schema: {
        operationId: 'listCalendarSources',
        tags,
        summary: 'List your own calendars',
        description:
          'Calendars in the order they were added. Passwords are never returned. For an events file, only the server of the address is returned, because the full address is enough to read the events.',
        response: { 200: z.array(CalendarSource) },
      },
    },
    (request) => listSources(request.ctx),
  );

  app.post(
    '/calendar/sources',
    {
      config: { access, errors: { 409: ['LIMIT_REACHED'] } },
      schema: {
        operationId: 'addCalendarSource',
        tags,
        summary: 'Add a calendar',
        description: `A calendar is an events file (\`ics\`) or a calendar on a server (\`caldav\`: the address of one calendar, or the address of a calendar server, such as \`https://caldav.icloud.com\` with an app-specific password). The sign-in is sent to the server of the address only, and for iCloud to its calendar servers. Addresses must be https; \`webcal:\` is read as https, and the page of a public Nextcloud calendar is replaced by the address of its file. The calendar is read when events are requested. A user can have ${maxSources} calendars.`,
        body: NewCalendarSource,
        response: { 201: CalendarSource },
      },
    },
    async (request, reply) => reply.status(201).send(await addSource(request.ctx, request.body)),
  );

  app.patch(
    '/calendar/sources/:id',
    {
      config: { access, errors: { 400: ['SECRET_REQUIRED'] } },
      schema: {
        operationId: 'changeCalendarSource',
        tags,
        summary: 'Change a calendar',
        description:
          'If the address or the password is missing or blank, or if the address is sent as it was returned, the stored value is kept; null removes the password. A stored password can only be kept with the server and username it was stored for; otherwise the answer is 400 `SECRET_REQUIRED`. If the address or the sign-in changes, the events read before are deleted.',
        params: ById,
        body: CalendarSourceChange,
        response: { 200: CalendarSource },
      },
    },
    (request) => changeSource(request.ctx, request.params.id, request.body),
  );

  app.delete(
    '/calendar/sources/:id',
    {
      config: { access },
      schema: {
        operationId: 'deleteCalendarSource',
        tags,
        summary: 'Delete a calendar',
        description:
          'Also deletes its secrets and all events read from it. It is removed from the widgets that show it.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => deleteSource(request.ctx, request.params.id),
  );

  app.post(
    '/calendar/sources/test',
    {
      config: { access, errors: { 400: ['SECRET_REQUIRED'], 404: ['NOT_FOUND'], 429: ['RATE_LIMITED'] } },
      schema: {
        operationId: 'testCalendarSource',
        tags,
        summary: 'Test a calendar before saving it',
        description:
          'Takes at most 15 s. If the calendar cannot be read, the answer is still 200: `ok` is false and `error` says why. For a calendar server `calendars` lists the calendars that contain events. With `id`, the stored address and password are used for blank ones, but only for the server they were stored for. A user can make ten tests per minute; each is noted in the audit log with its server.',
        body: CalendarSourceTest,
        response: { 200: CalendarTestResult },
      },
    },
    (request) => testSource(request.ctx, request.body),
  );

  app.post(
    '/calendar/sources/:id/test',
    {
      config: { access, errors: { 429: ['RATE_LIMITED'] } },
      schema: {
        operationId: 'testStoredCalendarSource',
        tags,
        summary: 'Test a stored calendar',
        description: 'Uses the stored settings and secrets. Otherwise like `POST /calendar/sources/test`.',
        params: ById,
        response: { 200: CalendarTestResult },
      },
    },
    (request) => testStoredSource(request.ctx, request.params.id),
  );

  app.get(
    '/calendar/events',
    {
      config: { access },
      schema: {
        operationId: 'listCalendarEvents',
        tags,
        summary: 'List the events of the active calendars',
        description:
          'Returns all events that take place between `from` and `to`, including events that began earlier. Each occurrence of a series is a separate entry; cancelled events are left out. A time without a time zone is in the zone of its event’s start or, if that has none, in Berlin time; a time with an unknown zone is read as Berlin time. Days begin at midnight in Berlin. Events are cached for five minutes; after that, the next call reads all calendars in parallel. It waits at most 12 s for them: a calendar that needs more time is listed in `errors` with `timeout`, and the portal continues reading it for the next call. A calendar that fails is listed in `errors`, the events last read from it are still returned, and it is read again after a minute. If there is no answer after 15 s, the answer is 503 with `Retry-After`. At most 10 MiB, 20,000 events and 2,000 occurrences are read per calendar; if there are more, its error is `invalid` and the first ones are returned. The same error lists lines that are not shown as written: an event whose start cannot be read is left out, and one whose end or length cannot be read has the default length.',
        querystring: EventWindow,
        response: { 200: CalendarEvents },
      },
    },
    async (request, reply) => sendJson(reply, await listEvents(request.ctx, request.query)),
  );
}
