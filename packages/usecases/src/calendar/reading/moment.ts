import { type ContentLine, writtenMoment } from '@portal/domain/calendar/content-lines';
import { DAY } from '@portal/domain/time';
import { berlin, utc, type Zone } from './zones.ts';

/** A time, or a day, which has no zone. */
export interface Moment {
  isDay: boolean;
  /** Wall-clock time in its zone, in milliseconds as if it were UTC. */
  wall: number;
  /** The instant; for a day, its beginning in Berlin. */
  at: number;
  zone: Zone;
}

/** A value of a line as a moment; null if it is not one. Calls `zone` only if the value needs it. */
export function momentOf(line: Pick<ContentLine, 'parameters'>, value: string, zone: () => Zone): Moment | null {
  const written = writtenMoment(line, value);
  if (written === null) return null;
  return written.isDay ? dayAt(written.wall) : timeAt(written.wall, written.isUtc ? utc : zone());
}

export const dayAt = (wall: number): Moment => ({ isDay: true, wall, at: berlin.instantOf(wall), zone: berlin });

export const timeAt = (wall: number, zone: Zone): Moment => ({ isDay: false, wall, at: zone.instantOf(wall), zone });

/** A moment of the same kind and zone with another wall-clock time. */
export const likeAt = (other: Moment, wall: number): Moment => (other.isDay ? dayAt(wall) : timeAt(wall, other.zone));

/** The wall-clock time of an instant in another moment’s zone. */
export function wallOn(other: Moment, at: number): number {
  const guess = at + at - likeAt(other, at).at;
  return at + guess - likeAt(other, guess).at;
}

/** Expresses another moment like those of a series that begins at `start`: in a series of times, a day gets the series’ time of day. */
export function onClockOf(start: Moment, other: Moment): Moment {
  if (start.isDay) return dayAt(dayOf(other));
  return likeAt(start, other.isDay ? other.wall + start.wall - dayOf(start) : wallOn(start, other.at));
}

/** The day of a moment on its own clock. */
export const dayOf = ({ wall }: Moment): number => Math.floor(wall / DAY) * DAY;

/** The moment as answered: a day as its date, a time in UTC. */
export const shown = ({ isDay, wall, at }: Moment): string =>
  isDay ? new Date(wall).toISOString().slice(0, 10) : new Date(at).toISOString();
