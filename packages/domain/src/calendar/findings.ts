import { z } from 'zod';

/** Why a line of a calendar is not shown as written, and what the portal does instead. */
export const calendarFindings = {
  LINE_UNREADABLE: 'cannot be read. It is left out.',
  START_MISSING: 'is missing. The event is not shown.',
  START_UNREADABLE: 'cannot be read. The event is not shown.',
  LENGTH_UNREADABLE: 'cannot be read. The event is shown with the default length.',
  UNTIL_UNREADABLE: 'cannot be read. The event repeats without an end.',
  RULE_UNREADABLE: 'cannot be read. The event is shown without it.',
  SCALE_UNKNOWN: 'uses a calendar other than the Gregorian. The event is shown without it.',
  RULE_GIVEN_UP: 'cannot be worked out, or takes too long. Some of its occurrences may be missing.',
  EVENT_REPLACED: 'is replaced by a later one with the same UID and SEQUENCE. It is not shown.',
  EVENT_TOO_LONG: 'is longer than 128 KiB. Its remaining lines are left out.',
  EVENT_BEYOND: 'is beyond the limit of 20,000 events. It is not shown.',
  BEGIN_MISSING: 'has an END but no BEGIN. It is not shown.',
  END_MISSING: 'has no END. It is read as far as it goes.',
  COMPONENT_UNKNOWN: 'is not an event. It is not shown.',
  ZONE_UNKNOWN: 'is unknown. Its times are read as Berlin time.',
} as const;
export type CalendarFindingCode = keyof typeof calendarFindings;

/** Findings listed for one calendar; a longer list helps no user. */
export const maxCalendarFindings = 100;

export const CalendarFinding = z
  .object({
    line: z.int().describe('Line in the file; for a calendar server, in the file the portal builds from its events'),
    code: z.enum(Object.keys(calendarFindings) as [CalendarFindingCode, ...CalendarFindingCode[]]),
    reason: z.string().describe('For people, in English'),
  })
  .meta({
    id: 'CalendarFinding',
    example: {
      line: 12,
      code: 'LENGTH_UNREADABLE',
      reason: 'DTEND cannot be read. The event is shown with the default length.',
    },
  });
export type CalendarFinding = z.output<typeof CalendarFinding>;

/** `what` names a property or component, either from the standard or invented by the file. */
export const calendarFinding = (line: number, code: CalendarFindingCode, what: string): CalendarFinding => ({
  line,
  code,
  reason: `${what} ${calendarFindings[code]}`,
});
