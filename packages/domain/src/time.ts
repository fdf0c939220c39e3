import { z } from 'zod';

/** An instant: ISO 8601 with offset on the wire, a Date in code; answers are UTC with `Z`. */
export const Instant = z
  .codec(z.iso.datetime({ offset: true }), z.date(), {
    decode: (iso) => new Date(iso),
    encode: isoOf,
  })
  .meta({
    id: 'Instant',
    description: 'Instant, ISO 8601; answers are UTC with Z',
    example: '2026-11-20T08:30:00.000Z',
  });

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The zone of every time of day and of every day that is counted: the organisations are German. */
export const berlin = 'Europe/Berlin';

const two = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
const three = Array.from({ length: 1_000 }, (_, n) => String(n).padStart(3, '0'));
let lastDay = Number.NaN;
let dayText = '';

/** What `toISOString` answers, for much less: times that are shown together mostly share their day, and it alone is hard to work out. */
export function isoOf(date: Date): string {
  const time = date.getTime();
  const day = Math.floor(time / DAY);
  if (day !== lastDay) {
    // Throws for an invalid date.
    dayText = date.toISOString().slice(0, -'00:00:00.000Z'.length);
    lastDay = day;
  }
  const ms = time - day * DAY;
  const hours = two[Math.floor(ms / HOUR)];
  const minutes = two[Math.floor(ms / MINUTE) % 60];
  const seconds = two[Math.floor(ms / SECOND) % 60];
  return `${dayText}${hours}:${minutes}:${seconds}.${three[ms % SECOND]}Z`;
}
