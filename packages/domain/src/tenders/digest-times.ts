import { berlin } from '../time.ts';
import type { DigestRhythm } from './saved-searches.ts';

const hour = 7;

/** When a digest is due; it covers everything before. `day` identifies it per account. */
export interface DigestTime {
  day: string;
  at: Date;
}

/** The last time a digest went out or should have: seven o’clock in Berlin, of any day or of a Monday. */
export function lastDigestTime(rhythm: Exclude<DigestRhythm, 'off'>, now: Date): DigestTime {
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(berlin);
  const isAhead = local.hour < hour;
  const latest = local.toPlainDate().subtract({ days: isAhead ? 1 : 0 });
  const day = rhythm === 'daily' ? latest : latest.subtract({ days: latest.dayOfWeek - 1 });
  const at = day.toZonedDateTime({ timeZone: berlin, plainTime: { hour } });
  return { day: day.toString(), at: new Date(at.epochMilliseconds) };
}
