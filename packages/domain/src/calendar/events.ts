import { z } from 'zod';
import { Id } from '../ids.ts';
import { DAY, Instant } from '../time.ts';
import { CalendarFinding, maxCalendarFindings } from './findings.ts';
import { CalendarError } from './sources.ts';

/** Days one request may cover. */
const maxDays = 92;

/** The portal asks calendar servers for some months around a window, and their dates have four digits for the year. */
const firstYear = 1900;
export const lastYear = 2199;
const earliest = Date.UTC(firstYear, 0);
const latest = Date.UTC(lastYear + 1, 0);

/** The time window of a request for events. */
export const EventWindow = z
  .object({
    from: Instant.describe(`In the years ${firstYear} to ${lastYear}`),
    to: Instant.describe(`After \`from\`, by at most ${maxDays} days`),
  })
  .superRefine(({ from, to }, check) => {
    for (const [field, instant] of Object.entries({ from, to })) {
      if (Number(instant) < earliest || Number(instant) > latest)
        check.addIssue({ code: 'custom', path: [field], message: `must lie in the years ${firstYear} to ${lastYear}` });
    }
    // NaN if one of them is not an instant; the schema has reported that already.
    const length = Number(to) - Number(from);
    if (length <= 0) check.addIssue({ code: 'custom', path: ['to'], message: 'must be later than from' });
    if (length > maxDays * DAY)
      check.addIssue({ code: 'custom', path: ['to'], message: `must be at most ${maxDays} days later than from` });
  });
export type EventWindow = z.output<typeof EventWindow>;

const start = z.union([z.iso.datetime(), z.iso.date()]).describe('An instant, or a date for an all-day event');

/** One occurrence of an event. */
export const CalendarEvent = z
  .object({
    sourceId: Id,
    uid: z.string(),
    title: z.string().describe('Plain text, even if it looks like HTML; may be empty'),
    start,
    end: start.describe('Same form as `start`; for an all-day event the day after its last day'),
    allDay: z.boolean(),
    location: z.string().nullable(),
  })
  .meta({ id: 'CalendarEvent' });
export type CalendarEvent = z.output<typeof CalendarEvent>;

/** Why events of a calendar are missing or differ from the file. */
const CalendarEventsError = z
  .object({
    sourceId: Id,
    error: CalendarError,
    lines: z
      .array(CalendarFinding)
      .max(maxCalendarFindings)
      .optional()
      .describe('Lines that are not shown as written; missing if there are none'),
    lineCount: z.int().optional().describe('Total number of such lines; `lines` lists only the first ones'),
  })
  .meta({ id: 'CalendarEventsError' });

/** The events of an account's calendars. */
export const CalendarEvents = z
  .object({
    events: z.array(CalendarEvent).describe('Sorted by start'),
    errors: z
      .array(CalendarEventsError)
      .describe('Calendars that could not be read completely; `events` contains the events last read from them'),
  })
  .meta({
    id: 'CalendarEvents',
    example: {
      events: [
        {
          sourceId: '0198d3e1-7a8b-7c9d-8e0f-1a2b3c4d5e6f',
          uid: '040000008200E00074C5B7101A82E008',
          title: 'Jour fixe',
          start: '2026-10-27T13:00:00.000Z',
          end: '2026-10-27T14:00:00.000Z',
          allDay: false,
          location: 'Raum 2.14',
        },
      ],
      errors: [],
    },
  });
export type CalendarEvents = z.output<typeof CalendarEvents>;
