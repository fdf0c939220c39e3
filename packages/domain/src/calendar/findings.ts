import { z } from 'zod';

/** What can be said about a line of a calendar that is not shown as it is written, and what is done instead. */
export const calendarFindings = {
  LINE_UNREADABLE: 'cannot be read. It is left out.',
  START_MISSING: 'is missing. The event is not shown.',
  START_UNREADABLE: 'cannot be read. The event is not shown.',
  LENGTH_UNREADABLE: 'cannot be read. The event has the usual length.',
  UNTIL_UNREADABLE: 'cannot be read. The event repeats without an end.',
  RULE_UNREADABLE: 'cannot be read. The event is shown without it.',
  SCALE_UNKNOWN: 'counts by another calendar than the Gregorian. The event is shown without it.',
  RULE_GIVEN_UP: 'cannot be worked out, or takes too long. Some of its occurrences may be missing.',
  EVENT_REPLACED: 'stands where a later one with the same UID and SEQUENCE does. It is not shown.',
  EVENT_TOO_LONG: 'is longer than 128 KiB. The rest of its lines is left out.',
  EVENT_BEYOND: 'is beyond the 20,000 events that are read. It is not shown.',
  BEGIN_MISSING: 'ends and has not begun. It is not shown.',
  END_MISSING: 'does not end. It is read as far as it goes.',
  COMPONENT_UNKNOWN: 'is no event. It is not shown.',
  ZONE_UNKNOWN: 'is unknown. Its times are read as those of Berlin.',
} as const;
export type CalendarFindingCode = keyof typeof calendarFindings;

/** Of one calendar; more of them help nobody. */
export const maxCalendarFindings = 100;

export const CalendarFinding = z
  .object({
    line: z.int().describe('Line of the file; of a calendar server’s events as they were put together'),
    code: z.enum(Object.keys(calendarFindings) as [CalendarFindingCode, ...CalendarFindingCode[]]),
    reason: z.string().describe('For people, in English'),
  })
  .meta({
    id: 'CalendarFinding',
    example: { line: 12, code: 'LENGTH_UNREADABLE', reason: 'DTEND cannot be read. The event has the usual length.' },
  });
export type CalendarFinding = z.output<typeof CalendarFinding>;

/** `what` is a name of the standard, or one the file has made up. */
export const calendarFinding = (line: number, code: CalendarFindingCode, what: string): CalendarFinding => ({
  line,
  code,
  reason: `${what} ${calendarFindings[code]}`,
});
