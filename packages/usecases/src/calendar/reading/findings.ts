import {
  type CalendarFinding,
  type CalendarFindingCode,
  calendarFinding,
  maxCalendarFindings,
} from '@portal/domain/calendar/findings';
import { shownLine } from '@portal/domain/text';

/** What a source does not show as it is written: the first lines, and how many there are in all. */
export interface Findings {
  lines: CalendarFinding[];
  count: number;
}

/** Notes what is wrong with a line; `at` is its place among the unfolded ones. */
export type Note = (at: number, code: CalendarFindingCode, what: string) => void;

export function noteInto(findings: Findings): Note {
  return (at, code, what) => {
    findings.count += 1;
    if (findings.lines.length < maxCalendarFindings)
      findings.lines.push(calendarFinding(at, code, shownLine(what, 80)));
  };
}
