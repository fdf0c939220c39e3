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
import { PathId } from '@portal/domain/ids';
import { listEvents } from '@portal/usecases/calendar/events';
import { addSource, changeSource, deleteSource, listSources } from '@portal/usecases/calendar/sources';
import { testSource, testStoredSource } from '@portal/usecases/calendar/test-source';
import { sendJson } from '../files.ts';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['calendar'];
const access = needs('calendar', 'USE');
const params = z.object({ id: PathId });

/** Calendars that an account reads from elsewhere, and what they hold. */
export function registerCalendar(app: App): void {
  app.get(
    '/calendar/sources',
    {
      config: { access },
      schema: {
        operationId: 'listCalendarSources',
        tags,
        summary: 'List one’s own calendars',
        description:
          'In the order they were added. Passwords are never answered, and of the address of a file of events no more than its server, for whoever knows that address can read the events.',
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
        description: `A file of events (\`ics\`) or a calendar server (\`caldav\`: a calendar, or where those of a person are found). Addresses are https; \`webcal:\` is taken for it, and the page of a public Nextcloud calendar for its file. It is read when events are asked for. ${maxSources} a user.`,
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
          'A missing or blank address or password, or an address as it was shown, keeps the stored one; a password is removed by null. A stored password stays with the server and username it was stored for; otherwise it is 400 `SECRET_REQUIRED`. With another address or sign-in, what was read before is forgotten.',
        params,
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
        description: 'Its secrets and everything that was read of it go with it. Widgets that name it do without.',
        params,
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
        summary: 'Try a calendar before saving it',
        description:
          'Within 15 s. Trouble with the calendar is part of the answer: `ok` is false and `error` says what kind. Of a calendar server `calendars` are those that hold events. With `id`, what is left blank is that of the stored one, as long as it goes where it was stored for. Ten tries a minute for each user, each in the audit log with the server it was for.',
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
        summary: 'Try a stored calendar',
        description: 'As it is stored, with its secrets. Otherwise as `POST /calendar/sources/test`.',
        params,
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
        summary: 'List what the active calendars hold',
        description:
          'Everything that takes place between two instants, also what began before, each occurrence of a series by itself; what is cancelled is left out. Times without a zone, and in one that nobody knows, are of Berlin; days are compared as they begin there. What was read is good for five minutes; then all calendars are asked at once, for 15 s. One that fails is named in `errors` beside what was last read of it, and is asked again after a minute. Of a calendar 10 MiB, 20,000 events and 2,000 occurrences are taken; where there is more, its error is `invalid` and the first of them are shown.',
        querystring: EventWindow,
        response: { 200: CalendarEvents },
      },
    },
    async (request, reply) => sendJson(reply, await listEvents(request.ctx, request.query)),
  );
}
