import { berlin, HOUR, MINUTE } from '../time.ts';
import { isSettingsSource } from './sources.ts';

/** When the national export of the day before is looked for: it is complete in the night, and once more for latecomers. */
const exportTimes = ['03:30', '07:00'];
/** While the journal is being published it is asked more often. */
const journalHours = ['08:30', '12:00'] as const;
const feedPauseMs = 30 * MINUTE;
const longestFeedPauseMs = 24 * HOUR;

/** When a source that was read is read again. `wishMs` is how long a feed wants to be kept; `chance` from 0 to 1 spreads feeds. */
export function nextReadAt(
  key: string,
  now: Date,
  { wishMs = 0, chance = 0.5 }: { wishMs?: number; chance?: number } = {},
): Date {
  const here = now.toTemporalInstant().toZonedDateTimeISO(berlin);
  if (key === 'oeffentlichevergabe') return earliest(exportTimes.map((time) => nextAt(here, time)));
  if (key === 'ted') {
    const [opens, closes] = journalHours;
    const isOpen = here.toPlainTime().toString() >= opens && here.toPlainTime().toString() < closes;
    return earliest([after(now, isOpen ? 30 * MINUTE : 3 * HOUR), nextAt(here, opens)]);
  }
  if (isSettingsSource(key)) return after(now, HOUR);
  const pauseMs = Math.min(Math.max(feedPauseMs, wishMs), longestFeedPauseMs);
  return after(now, pauseMs * (0.9 + 0.2 * chance));
}

/** When a source that could not be read is tried again; `failures` counts those in a row, this one too. */
export function nextTry(
  key: string,
  now: Date,
  { failures, retryAfterMs = null }: { failures: number; retryAfterMs?: number | null },
): Date {
  const doubled = 2 ** Math.min(failures - 1, 10);
  const wanted = isSettingsSource(key)
    ? Math.min(10 * MINUTE * doubled, nextReadAt(key, now).getTime() - now.getTime())
    : Math.min(2 * feedPauseMs * doubled, longestFeedPauseMs);
  return after(now, Math.max(wanted, retryAfterMs ?? 0));
}

const after = (now: Date, ms: number): Date => new Date(now.getTime() + Math.round(ms));
const earliest = (dates: Date[]): Date => new Date(Math.min(...dates.map((date) => date.getTime())));

/** The next time the clock shows this, summer time or not. */
function nextAt(here: Temporal.ZonedDateTime, time: string): Date {
  const today = here.withPlainTime(time);
  const next = Temporal.ZonedDateTime.compare(today, here) > 0 ? today : here.add({ days: 1 }).withPlainTime(time);
  return new Date(next.epochMilliseconds);
}

/** Days looked at again behind the last one that was read, because sources add to days gone by. */
const overlapDays = 3;
/** The first look of all goes back this far. */
const firstDays = 7;
/** On Sundays the national export is looked through once more. */
const weeklyDays = 14;
/** What was missed for longer is not made up for. */
const maxDays = 60;

/** The days of the journal to ask for, up to today, which is not over. */
export function journalDays(watermark: string | null, today: string): { from: string; to: string } {
  return { from: startOf(today, watermark === null ? firstDays : overlapDays, watermark ?? today), to: today };
}

/** The days of the national export to read, the oldest first; the last is yesterday. */
export function exportDays(watermark: string | null, today: string): string[] {
  const yesterday = dayBefore(today, 1);
  const isSunday = Temporal.PlainDate.from(today).dayOfWeek === 7;
  const back = watermark === null ? firstDays : isSunday ? weeklyDays : overlapDays;
  const from = Temporal.PlainDate.from(
    startOf(yesterday, back - 1, watermark === null ? yesterday : dayAfter(watermark)),
  );
  const count = from.until(yesterday).days + 1;
  return Array.from({ length: count }, (_, n) => from.add({ days: n }).toString());
}

/** The earlier of "so many days before" and the first day that was not read, but not for ever. */
const startOf = (last: string, back: number, unread: string): string => {
  const usual = dayBefore(last, back);
  const wanted = unread < usual ? unread : usual;
  const floor = dayBefore(last, maxDays);
  return wanted < floor ? floor : wanted;
};

const dayBefore = (day: string, days: number): string => Temporal.PlainDate.from(day).subtract({ days }).toString();
const dayAfter = (day: string): string => Temporal.PlainDate.from(day).add({ days: 1 }).toString();
