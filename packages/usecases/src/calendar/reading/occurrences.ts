import { DAY } from '@portal/domain/time';
import { type IcsEvent, readIcsLines, valueOf } from './ics-lines.ts';
import { type Occurrence, occurrencesOf } from './series.ts';

/** Occurrences of one source in a window (reference, “Limits”). */
export const mostOccurrences = 2_000;

/**
 * What takes place between two instants, by start. `isWhole` is false when there is more than is taken, or no time to look at
 * everything, which `isLate` tells: what is left out is then what begins last.
 */
export function occurrencesBetween(
  file: Uint8Array,
  { from, to }: { from: number; to: number },
  isLate: () => boolean,
): { occurrences: Occurrence[]; isWhole: boolean; isLate: boolean } {
  const read = readIcsLines(file);
  const groups = Map.groupBy(read.events, ({ uid }) => uid);
  let occurrences: Occurrence[] = [];
  let { isWhole } = read;
  let before = to;
  const cut = () => {
    occurrences = occurrences.toSorted(byStart);
    if (occurrences.length <= mostOccurrences) return;
    isWhole = false;
    occurrences.length = mostOccurrences;
    // From here on only what begins earlier can be of any use.
    before = (occurrences.at(-1)?.start.at ?? 0) + 1;
  };
  for (const [uid, events] of groups) {
    if (isLate()) break;
    if (events.length === 1 && events.every((event) => isElsewhere(event, from, to))) continue;
    for (const one of occurrencesOf(uid, events, { from, to: before, most: mostOccurrences + 1, isLate }))
      occurrences.push(one);
    if (occurrences.length > 2 * mostOccurrences) cut();
  }
  cut();
  const wasLate = isLate();
  return { occurrences, isWhole: isWhole && !wasLate, isLate: wasLate };
}

const byStart = (a: Occurrence, b: Occurrence): number =>
  a.start.at - b.start.at || Number(b.start.isDay) - Number(a.start.isDay) || (a.title < b.title ? -1 : 1);

const day = /:(\d{4})(\d\d)(\d\d)(?:T\d{6}Z?)?\s*$/;

/** Whether an event that takes place once is days away from the window, by the digits of its dates. */
function isElsewhere({ lines }: IcsEvent, from: number, to: number): boolean {
  if (lines.some((line) => /^(?:RRULE|RDATE|DURATION|RECURRENCE-ID)/i.test(line))) return false;
  const dayAt = (name: string): number => {
    const [, year, month, date] = day.exec(`:${valueOf(lines, name) ?? ''}`) ?? [];
    return Date.UTC(Number(year), Number(month) - 1, Number(date));
  };
  const start = dayAt('DTSTART');
  const end = dayAt('DTEND');
  // A date that cannot be read is not a number, and smaller than nothing.
  return start > to + 2 * DAY || (Number.isNaN(end) ? start + DAY : Math.max(start, end)) < from - 2 * DAY;
}
