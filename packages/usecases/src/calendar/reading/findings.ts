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
  const noted = new Set<string>();
  const isNew = (key: string) => noted.size < noted.add(key).size;
  return (at, code, what) => {
    if (code === 'ZONE_UNKNOWN' && !isNew(what)) return;
    // A series in parts has its rule worked out for each.
    if (code === 'RULE_GIVEN_UP' && !isNew(`${at} ${code}`)) return;
    findings.count += 1;
    if (findings.lines.length === maxCalendarFindings) return;
    const finding = calendarFinding(at, code, shownLine(what, 80));
    // Of the tasks of a file, or of events beyond its bound, the first is enough: the others would take the place of what can be mended.
    const isListed =
      /^(?:COMPONENT_UNKNOWN|EVENT_BEYOND)$/.test(code) &&
      findings.lines.some(({ reason }) => reason === finding.reason);
    if (!isListed) findings.lines.push(finding);
  };
}
