import { z } from 'zod';

/** An instant: ISO 8601 with offset on the wire, a Date in code; answers are UTC with `Z`. */
export const Instant = z
  .codec(z.iso.datetime({ offset: true }), z.date(), {
    decode: (iso) => new Date(iso),
    encode: (date) => date.toISOString(),
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

/** The time zone of all times of day and calendar days: the organizations are German. */
export const berlin = 'Europe/Berlin';
