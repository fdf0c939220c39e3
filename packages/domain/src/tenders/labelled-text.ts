import type { Place } from './laender.ts';
import type { NoticeDeadline } from './notice-record.ts';
import { germanDeadline } from './notice-times.ts';

/** The value after one of these labels at the beginning of a line; null if there is none. */
export const labelledValue = (text: string, labels: string): string | null =>
  new RegExp(`^[^\\S\\n]*(?:${labels})[^\\S\\n]*:[^\\S\\n]*(.+)$`, 'imu').exec(text)?.[1]?.trim() ?? null;

/** The deadline in a text, if it names one. */
export const deadlinesIn = (text: string): NoticeDeadline[] => {
  const [, after = ''] =
    /(?:Angebots|Abgabe|Teilnahme|Bewerbungs|Einreichungs)(?:frist|termin|schluss)[^\n:]{0,40}:?([^\n]{0,80})/iu.exec(
      text,
    ) ?? [];
  const deadline = germanDeadline(after);
  return deadline ? [deadline] : [];
};

/** A town, and the postcode before it if there is one. */
export function placeIn(text: string): Place {
  const [, postcode = null, town] = /^(?:D-?\s?)?(\d{5})\s+(.*)$/.exec(text) ?? [];
  return { nuts: null, postcode, city: town ?? text, country: null, anywhere: null };
}
