import { DAY, isoOf } from '@portal/domain/time';
import type { IcsCalendar } from './ics-lines.ts';
import { berlin, utc, type Zone, zoneOf } from './zones.ts';

/** When something is: a time, or a day, which has no zone. */
export interface Moment {
  isDay: boolean;
  /** On the clock of its zone, in milliseconds as if that were UTC. */
  wall: number;
  /** The instant; a day is compared as it begins in Berlin. */
  at: number;
  zone: Zone;
}

const written = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(Z?))?$/;

/** A date or date-time of jCal (RFC 7265). Throws a RangeError for one that is none. */
export function momentOf(value: unknown, zoneName: string | undefined, calendar: IcsCalendar): Moment {
  const [, year, month, day, hour, minute, second, z] = written.exec(String(value)) ?? [];
  const wall = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour ?? 0),
    Number(minute ?? 0),
    Number(second ?? 0),
  );
  // The 30th of February would be a day of March, and a year of two digits one of the last century.
  if (!isoOf(new Date(wall)).startsWith(`${year}-${month}-${day}`)) throw new RangeError('This is no date.');
  if (hour === undefined) return dayAt(wall);
  return timeAt(wall, z === 'Z' ? utc : zoneName === undefined ? berlin : zoneOf(zoneName, calendar));
}

export const dayAt = (wall: number): Moment => ({ isDay: true, wall, at: berlin.instantOf(wall), zone: berlin });

export const timeAt = (wall: number, zone: Zone): Moment => ({ isDay: false, wall, at: zone.instantOf(wall), zone });

/** A moment of the same kind and zone, on that clock. */
export const likeAt = (other: Moment, wall: number): Moment => (other.isDay ? dayAt(wall) : timeAt(wall, other.zone));

/** The day of a moment on its own clock. */
export const dayOf = ({ wall }: Moment): number => Math.floor(wall / DAY) * DAY;

/** As it is answered: a day by its date, a time in UTC. */
export const shown = ({ isDay, wall, at }: Moment): string =>
  isDay ? isoOf(new Date(wall)).slice(0, 10) : isoOf(new Date(at));
