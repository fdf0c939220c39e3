import { computed, signal, type ReadonlySignal } from '@preact/signals';

export type Language = 'de' | 'en';

const preferred = (): Language =>
  navigator.languages.find((name) => /^(de|en)\b/.test(name))?.startsWith('en') ? 'en' : 'de';

/** The language of the page. Use `setLanguage` to change it. */
export const language = signal<Language>(preferred());

/** Null follows what was chosen at this browser, or else the browser. */
export function setLanguage(wanted: Language | null): void {
  if (wanted) forgetChosenLanguage();
  language.value = wanted ?? chosenLanguage() ?? preferred();
  document.documentElement.lang = language.value;
}

const storedName = 'portal.language';

/** The choice of somebody who has not signed in. This browser keeps it until an account has a language of its own. */
export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(storedName, chosen);
  setLanguage(null);
}

export const forgetChosenLanguage = (): void => localStorage.removeItem(storedName);

function chosenLanguage(): Language | null {
  const chosen = localStorage.getItem(storedName);
  return chosen === 'de' || chosen === 'en' ? chosen : null;
}

/** The texts of an area in the current language. A text that one of both languages lacks is a type error. */
export function catalogue<Texts extends object>(texts: { de: Texts; en: NoInfer<Texts> }): ReadonlySignal<Texts> {
  return computed(() => texts[language.value]);
}

/** All times are shown in the time zone of the organizations, independent of the device. */
export const timeZone = 'Europe/Berlin';

const locales = { de: 'de-DE', en: 'en-GB' };
const formats = new Map<string, unknown>();

/** Making a format costs more than a hundred uses of it. */
function format<Format>(name: string, make: (locale: string) => Format): Format {
  const key = `${language.value} ${name}`;
  const known = formats.get(key) as Format | undefined;
  if (known !== undefined) return known;
  const made = make(locales[language.value]);
  formats.set(key, made);
  return made;
}

// `localeCompare` makes a collator for each pair, which takes a long list more time than drawing it.
const collator = computed(() => new Intl.Collator(locales[language.value], { sensitivity: 'base', numeric: true }));

/** Orders names as readers of the language expect them: “ä” beside “a”, “2” before “10”, large letters as small ones. */
export const compareText = (a: string, b: string): number => collator.value.compare(a, b);

/** An instant: ISO 8601, or milliseconds since 1970. */
export type Instant = string | number | Date;

const dateFormat = (name: string, options: Intl.DateTimeFormatOptions) => (value: Instant) =>
  format(name, (locale) => new Intl.DateTimeFormat(locale, { timeZone, ...options })).format(new Date(value));

export const formatDate = dateFormat('date', { dateStyle: 'medium' });
export const formatTime = dateFormat('time', { timeStyle: 'short' });
export const formatDateTime = dateFormat('datetime', { dateStyle: 'medium', timeStyle: 'short' });
/** With the weekday, such as “Donnerstag, 26. November”. */
export const formatDay = dateFormat('day', { weekday: 'long', day: 'numeric', month: 'long' });

/** The name of the time zone at this instant, such as “Mitteleuropäische Normalzeit”. */
export function zoneName(value: Instant): string {
  const parts = format('zone', (locale) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'long' }));
  return parts.formatToParts(new Date(value)).find(({ type }) => type === 'timeZoneName')?.value ?? timeZone;
}

export const formatNumber = (value: number, maximumFractionDigits = 1): string =>
  format(
    `number ${maximumFractionDigits}`,
    (locale) => new Intl.NumberFormat(locale, { maximumFractionDigits }),
  ).format(value);

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'];

/** A size in units of 1,024, such as “1,4 MB”. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log(bytes) / Math.log(1_024)), units.length - 1);
  const unit = units[step] ?? 'byte';
  const maximumFractionDigits = step === 0 ? 0 : 1;
  return format(
    unit,
    (locale) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits }),
  ).format(bytes / 1_024 ** step);
}

const steps: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** The distance from now, such as “vor 3 Minuten”. */
export function formatRelative(value: Instant, nowMs = Date.now()): string {
  const seconds = (new Date(value).getTime() - nowMs) / 1_000;
  const [unit, size] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return format('relative', (locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })).format(
    Math.round(seconds / size),
    unit,
  );
}
