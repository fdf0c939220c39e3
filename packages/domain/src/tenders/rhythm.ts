import { berlin, HOUR, MINUTE } from '../time.ts';
import { isSettingsSource } from './sources.ts';

/** When the national export of the day before is read: after it is complete at night, and again for late notices. */
const exportTimes = ['03:30', '07:00'];
/** TED is read more often while it publishes. */
const journalHours = ['08:30', '12:00'] as const;
const feedPauseMs = 30 * MINUTE;
const maxFeedPauseMs = 24 * HOUR;

/**
 * When a source is read again after a success. `ttlMs` is how long a feed asks not to be fetched; `chance` from 0 to 1 spreads the feeds.
 */
export function nextReadAt(
  key: string,
  now: Date,
  { ttlMs = 0, chance = 0.5 }: { ttlMs?: number; chance?: number } = {},
): Date {
  const here = now.toTemporalInstant().toZonedDateTimeISO(berlin);
  if (key === 'oeffentlichevergabe') return earliest(exportTimes.map((time) => nextAt(here, time)));
  if (key === 'ted') {
    const [opens, closes] = journalHours;
    const isOpen = here.toPlainTime().toString() >= opens && here.toPlainTime().toString() < closes;
    return earliest([after(now, isOpen ? 30 * MINUTE : 3 * HOUR), nextAt(here, opens)]);
  }
  if (isSettingsSource(key)) return after(now, HOUR);
  const pauseMs = Math.min(Math.max(feedPauseMs, ttlMs), maxFeedPauseMs);
  return after(now, pauseMs * (0.9 + 0.2 * chance));
}

/** When a source is read again after a failure. `failures` counts the failures in a row, including this one. */
export function nextTry(
  key: string,
  now: Date,
  { failures, retryAfterMs = null }: { failures: number; retryAfterMs?: number | null },
): Date {
  const doubled = 2 ** Math.min(failures - 1, 10);
  const pauseMs = isSettingsSource(key)
    ? Math.min(10 * MINUTE * doubled, nextReadAt(key, now).getTime() - now.getTime())
    : Math.min(2 * feedPauseMs * doubled, maxFeedPauseMs);
  return after(now, Math.max(pauseMs, retryAfterMs ?? 0));
}

const after = (now: Date, ms: number): Date => new Date(now.getTime() + Math.round(ms));
const earliest = (dates: Date[]): Date => new Date(Math.min(...dates.map((date) => date.getTime())));

/** The next time the clock in Berlin shows this time. */
function nextAt(here: Temporal.ZonedDateTime, time: string): Date {
  const today = here.withPlainTime(time);
  const next = Temporal.ZonedDateTime.compare(today, here) > 0 ? today : here.add({ days: 1 }).withPlainTime(time);
  return new Date(next.epochMilliseconds);
}

/** Days read again before the last one, because sources add notices to past days. */
const overlapDays = 3;
/** Days that the first read goes back. */
const firstDays = 7;
/** Days of the national export that are read again on Sundays. */
const weeklyDays = 14;
/** Days that a read goes back at most after an outage. */
const maxDays = 60;

/** The days of TED to read, including today. */
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

/** `back` days before `last`, or the first unread day if that is earlier, but at most `maxDays`. */
const startOf = (last: string, back: number, unread: string): string => {
  const usual = dayBefore(last, back);
  const wanted = unread < usual ? unread : usual;
  const floor = dayBefore(last, maxDays);
  return wanted < floor ? floor : wanted;
};

const dayBefore = (day: string, days: number): string => Temporal.PlainDate.from(day).subtract({ days }).toString();
const dayAfter = (day: string): string => Temporal.PlainDate.from(day).add({ days: 1 }).toString();
