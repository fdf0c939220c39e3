import { berlin } from '@portal/domain/time';
import type { Language } from './frame.ts';

// Mails show Berlin time, regardless of the server's time zone.

const german = new Intl.DateTimeFormat('de-DE', {
  timeZone: berlin,
  dateStyle: 'long',
  timeStyle: 'short',
});
const english = new Intl.DateTimeFormat('en-GB', {
  timeZone: berlin,
  dateStyle: 'long',
  timeStyle: 'short',
});

/** An instant for readers: "28. November 2026 um 09:44 Uhr", "28 November 2026 at 09:44 (Berlin time)". */
export const mailTime = (instant: Date, language: Language = 'de'): string =>
  language === 'de' ? `${german.format(instant)} Uhr` : `${english.format(instant)} (Berlin time)`;

const day = { timeZone: berlin, weekday: 'short', day: '2-digit', month: '2-digit', year: 'numeric' } as const;
const germanDay = new Intl.DateTimeFormat('de-DE', day);
const germanMoment = new Intl.DateTimeFormat('de-DE', { ...day, hour: '2-digit', minute: '2-digit' });

/** Short, for lists: "Fr., 18.12.2026". */
export const mailDay = (instant: Date): string => germanDay.format(instant);

/** The same with its time: "Fr., 18.12.2026, 11:00 Uhr". */
export const mailMoment = (instant: Date): string => `${germanMoment.format(instant)} Uhr`;
