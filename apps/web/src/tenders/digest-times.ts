import { addDays, clockTimeAt, instantsAt, nextMonday } from '../berlin-time.ts';

export type Rhythm = 'daily' | 'weekly' | 'off';

const sentAt = '07:00';

/** When the next digest goes out: at seven o’clock in Berlin, every day or on Mondays. */
export function nextDigestAt(rhythm: Exclude<Rhythm, 'off'>, now: number): string {
  const clock = clockTimeAt(now);
  const today = clock.slice(0, 10);
  const isOver = clock.slice(11) >= sentAt;
  const monday = nextMonday(addDays(today, -1));
  const day =
    rhythm === 'daily' ? addDays(today, isOver ? 1 : 0) : monday === today && isOver ? nextMonday(today) : monday;
  return instantsAt(`${day}T${sentAt}`)[0] ?? day;
}
