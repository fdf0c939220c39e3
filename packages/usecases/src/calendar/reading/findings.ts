import {
  type CalendarFinding,
  type CalendarFindingCode,
  calendarFinding,
  maxCalendarFindings,
} from '@portal/domain/calendar/findings';
import { shownLine } from '@portal/domain/text';

/** Lines of a source that are not shown as written: the first ones, and the total count. */
export interface Findings {
  lines: CalendarFinding[];
  count: number;
}

/** Records a finding about a line, once per zone for unknown zones; `at` is the line's number among the unfolded lines. */
export type Note = (at: number, code: CalendarFindingCode, what: string) => void;

export function noteInto(findings: Findings): Note {
  const noted = new Set<string>();
  const isNew = (key: string) => noted.size < noted.add(key).size;
  return (at, code, what) => {
    if (code === 'ZONE_UNKNOWN' && !isNew(what)) return;
    // A series in parts evaluates its rule once for each part.
    if (code === 'RULE_GIVEN_UP' && !isNew(`${at} ${code}`)) return;
    findings.count += 1;
    if (findings.lines.length === maxCalendarFindings) return;
    const finding = calendarFinding(at, code, shownLine(what, 80));
    // Listing the first task or the first event beyond the limit is enough; more would displace findings a user can fix.
    const isListed =
      /^(?:COMPONENT_UNKNOWN|EVENT_BEYOND)$/.test(code) &&
      findings.lines.some(({ reason }) => reason === finding.reason);
    if (!isListed) findings.lines.push(finding);
  };
}
