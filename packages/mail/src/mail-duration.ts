import { MINUTE } from '@portal/domain/time';

const german = new Intl.DurationFormat('de-DE', { style: 'long' });

/** A duration for readers, in whole minutes: "2 Tage, 1 Stunde und 5 Minuten". */
export function mailDuration(ms: number): string {
  const minutes = Math.floor(ms / MINUTE);
  if (minutes < 1) return 'weniger als eine Minute';
  return german.format({
    days: Math.floor(minutes / 1_440),
    hours: Math.floor(minutes / 60) % 24,
    minutes: minutes % 60,
  });
}
