import { z } from 'zod';
import { Id } from '../ids.ts';
import { DAY, Instant } from '../time.ts';
import { CalendarFinding, maxCalendarFindings } from './findings.ts';
import { CalendarError } from './sources.ts';

/** Days that are asked for at once. */
const maxDays = 92;

/** Calendar servers are asked for some months around a window, and their dates have four digits for the year. */
const firstYear = 1900;
export const lastYear = 2199;
const begins = Date.UTC(firstYear, 0);
const ends = Date.UTC(lastYear + 1, 0);

/** Between which instants events are asked for. */
export const EventWindow = z
  .object({
    from: Instant.describe(`In the years ${firstYear} to ${lastYear}`),
    to: Instant.describe(`After \`from\`, by at most ${maxDays} days`),
  })
  .superRefine(({ from, to }, check) => {
    for (const [field, instant] of Object.entries({ from, to })) {
      if (Number(instant) < begins || Number(instant) > ends)
        check.addIssue({ code: 'custom', path: [field], message: `must lie in the years ${firstYear} to ${lastYear}` });
    }
    // Not a number where one of them is no instant, which has been said already.
    const length = Number(to) - Number(from);
    if (length <= 0) check.addIssue({ code: 'custom', path: ['to'], message: 'must be later than from' });
    if (length > maxDays * DAY)
      check.addIssue({ code: 'custom', path: ['to'], message: `must be at most ${maxDays} days later than from` });
  });
export type EventWindow = z.output<typeof EventWindow>;

const start = z.union([z.iso.datetime(), z.iso.date()]).describe('An instant, or a date for an all-day event');

/** One time at which an event is. */
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

/** Why the events of a calendar are not all there, or not as they are written. */
const CalendarEventsError = z
  .object({
    sourceId: Id,
    error: CalendarError,
    lines: z
      .array(CalendarFinding)
      .max(maxCalendarFindings)
      .optional()
      .describe('Lines that are not shown as they are written; missing if there are none'),
    lineCount: z.int().optional().describe('How many such lines there are in all'),
  })
  .meta({ id: 'CalendarEventsError' });

/** What the calendars of an account hold. */
export const CalendarEvents = z
  .object({
    events: z.array(CalendarEvent).describe('Sorted by start'),
    errors: z
      .array(CalendarEventsError)
      .describe('Calendars that could not be read or not completely; the events last read from them are in `events`'),
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
