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

/** Notes what is wrong with a line, or once what is wrong with a zone; `at` is its place among the unfolded ones. */
export type Note = (at: number, code: CalendarFindingCode, what: string) => void;

export function noteInto(findings: Findings): Note {
  const zones = new Set<string>();
  return (at, code, what) => {
    if (code === 'ZONE_UNKNOWN' && zones.has(what)) return;
    if (code === 'ZONE_UNKNOWN') zones.add(what);
    findings.count += 1;
    if (findings.lines.length < maxCalendarFindings)
      findings.lines.push(calendarFinding(at, code, shownLine(what, 80)));
  };
}
