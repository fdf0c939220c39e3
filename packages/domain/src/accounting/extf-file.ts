import { berlin } from '../time.ts';
import { formatAmount } from './amounts.ts';
import { extfColumns } from './extf-columns.ts';
import type { AccountSum } from './merchandise-lines.ts';
import type { MerchandiseSettings } from './merchandise.ts';
import { lastDayOf, monthLabel } from './month.ts';
import { neutralized } from './spreadsheet-text.ts';
import { textOfLines } from './text-lines.ts';

/** An amount has at most 10 digits before the comma and 2 after it. */
export const maxExtfCents = 999_999_999_999;

const bookingTextMax = 60;

const text = (value: string): string => `"${value.replaceAll('"', '""')}"`;

/** A DATEV Buchungsstapel (EXTF 700, version 13): a header of 31 fields, 125 column names, and one booking per account. */
export function extfFile(
  sums: readonly AccountSum[],
  { period, settings, now }: { period: string; settings: MerchandiseSettings; now: Date },
): { name: string; text: string } {
  const lines = [
    headerOf(period, settings, now).join(';'),
    extfColumns.map(({ name }) => name).join(';'),
    ...sums.map((sum) => bookingOf(sum, period, settings)),
  ];
  return { name: `EXTF_Merchandise_${period}.csv`, text: textOfLines(lines) };
}

function headerOf(period: string, settings: MerchandiseSettings, now: Date): (string | number)[] {
  const [first, last] = [`${period}-01`, `${period}-${lastDayOf(period)}`];
  const fiscalStart = fiscalYearOf(last, settings.fiscalYearStart);
  const compact = (day: string): string => day.replaceAll('-', '');
  return [
    text('EXTF'),
    700,
    21,
    text('Buchungsstapel'),
    13,
    createdAt(now),
    '',
    text('RE'),
    text(''),
    text(''),
    Number(settings.beraternummer),
    Number(settings.mandantennummer),
    compact(fiscalStart),
    settings.defaultContraAccount.length,
    // A batch stays within one fiscal year.
    compact(fiscalStart > first ? fiscalStart : first),
    compact(last),
    text(`Merchandise ${monthLabel(period)}`),
    // Financial accounting, no special purpose, not locked. A locked batch can never be changed again.
    text(''),
    1,
    0,
    0,
    text('EUR'),
    '',
    text(''),
    '',
    '',
    text(''),
    '',
    '',
    text(''),
    text(''),
  ];
}

/** The first day of the fiscal year that contains a day. */
function fiscalYearOf(day: string, start: string): string {
  const year = Number(day.slice(0, 4));
  return `${day.slice(5) >= start ? year : year - 1}-${start}`;
}

/** `20261120101500000` in Berlin. */
function createdAt(now: Date): string {
  const local = new Intl.DateTimeFormat('sv-SE', {
    timeZone: berlin,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  return local.format(now).replaceAll(/\D/g, '') + String(now.getUTCMilliseconds()).padStart(3, '0');
}

function bookingOf({ number, name, amountCents }: AccountSum, period: string, settings: MerchandiseSettings): string {
  const { defaultContraAccount } = settings;
  const label = ` ${monthLabel(period)}`;
  const values: Record<string, string> = {
    'Umsatz (ohne Soll/Haben-Kz)': formatAmount(Math.abs(amountCents)),
    'Soll/Haben-Kennzeichen': amountCents < 0 ? 'S' : 'H',
    'WKZ Umsatz': 'EUR',
    Konto: String(Number(number)).padStart(defaultContraAccount.length, '0'),
    'Gegenkonto (ohne BU-Schlüssel)': defaultContraAccount,
    Belegdatum: lastDayOf(period) + period.slice(5),
    'Belegfeld 1': `MERCH${period.slice(5)}${period.slice(2, 4)}`,
    Buchungstext: neutralized(name).slice(0, bookingTextMax - label.length) + label,
    Festschreibung: '0',
  };
  return extfColumns
    .map((column) => (column.isText ? text(values[column.name] ?? '') : (values[column.name] ?? '')))
    .join(';');
}
