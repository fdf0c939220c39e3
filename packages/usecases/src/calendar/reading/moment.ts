import { type ContentLine, writtenMoment } from '@portal/domain/calendar/content-lines';
import { DAY } from '@portal/domain/time';
import { berlin, utc, type Zone } from './zones.ts';

/** When something is: a time, or a day, which has no zone. */
export interface Moment {
  isDay: boolean;
  /** On the clock of its zone, in milliseconds as if that were UTC. */
  wall: number;
  /** The instant; a day is compared as it begins in Berlin. */
  at: number;
  zone: Zone;
}

/** A value of a line as a moment; null for one that is none. The zone is asked for where one matters. */
export function momentOf(line: Pick<ContentLine, 'parameters'>, value: string, zone: () => Zone): Moment | null {
  const written = writtenMoment(line, value);
  if (written === null) return null;
  return written.isDay ? dayAt(written.wall) : timeAt(written.wall, written.isUtc ? utc : zone());
}

export const dayAt = (wall: number): Moment => ({ isDay: true, wall, at: berlin.instantOf(wall), zone: berlin });

export const timeAt = (wall: number, zone: Zone): Moment => ({ isDay: false, wall, at: zone.instantOf(wall), zone });

/** A moment of the same kind and zone, on that clock. */
export const likeAt = (other: Moment, wall: number): Moment => (other.isDay ? dayAt(wall) : timeAt(wall, other.zone));

/** An instant on the clock of another moment’s zone. */
export function wallOn(other: Moment, at: number): number {
  const guess = at + at - likeAt(other, at).at;
  return at + guess - likeAt(other, guess).at;
}

/** Where another moment is in a series that begins at `start`: a day of times is the time of day at which that begins. */
export function onClockOf(start: Moment, other: Moment): Moment {
  if (start.isDay) return dayAt(dayOf(other));
  return likeAt(start, other.isDay ? other.wall + start.wall - dayOf(start) : wallOn(start, other.at));
}

/** The day of a moment on its own clock. */
export const dayOf = ({ wall }: Moment): number => Math.floor(wall / DAY) * DAY;

/** As it is answered: a day by its date, a time in UTC. */
export const shown = ({ isDay, wall, at }: Moment): string =>
  isDay ? new Date(wall).toISOString().slice(0, 10) : new Date(at).toISOString();
