import { berlin } from '../time.ts';
import type { DigestRhythm } from './saved-searches.ts';

const hour = 7;

/** When a digest is due. It covers everything before `at`; `day` identifies it per account. */
export interface DigestTime {
  day: string;
  at: Date;
}

/**
 * The last time a digest was due: seven o’clock in Berlin, every day or on Mondays. It follows from the clock, not from a scheduled event:
 * the sweep of each minute makes up for an outage with one digest, and a night in which the clock changes has only one.
 */
export function lastDigestTime(rhythm: Exclude<DigestRhythm, 'off'>, now: Date): DigestTime {
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(berlin);
  const isBeforeHour = local.hour < hour;
  const latest = local.toPlainDate().subtract({ days: isBeforeHour ? 1 : 0 });
  const day = rhythm === 'daily' ? latest : latest.subtract({ days: latest.dayOfWeek - 1 });
  const at = day.toZonedDateTime({ timeZone: berlin, plainTime: { hour } });
  return { day: day.toString(), at: new Date(at.epochMilliseconds) };
}
