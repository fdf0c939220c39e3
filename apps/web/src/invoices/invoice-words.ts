import type { Invoice } from '@portal/client/interface';
import { dayAt, daysBetween } from '../berlin-time.ts';
import { formatDate, language } from '../language.ts';
import { texts } from './texts.ts';

/** What to call an invoice; one that could not be read has only its file. */
export const nameOf = ({ number, fileName, subject }: Pick<Invoice, 'number' | 'fileName' | 'subject'>): string =>
  number ?? fileName ?? subject ?? texts.value.unnamed;

const formats = new Map<string, Intl.NumberFormat>();

/** An amount in its currency; null if the document states none. */
export function formatAmount(cents: number | null, currency: string | null): string | null {
  if (cents === null) return null;
  const key = `${language.value} ${currency}`;
  const known = formats.get(key) ?? amountFormat(currency);
  formats.set(key, known);
  const isNamed = known.resolvedOptions().style === 'currency' || currency === null;
  return isNamed ? known.format(cents / 100) : `${known.format(cents / 100)} ${currency}`;
}

function amountFormat(currency: string | null): Intl.NumberFormat {
  const locale = language.value === 'de' ? 'de-DE' : 'en-GB';
  try {
    // Amounts are hundredths in every currency.
    if (currency !== null)
      return new Intl.NumberFormat(locale, { style: 'currency', currency, maximumFractionDigits: 2 });
  } catch {
    // The document states something that is no currency.
  }
  return new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

/** A day of a document, which belongs to no time zone. */
export const formatInvoiceDay = (day: string): string => formatDate(`${day}T12:00:00Z`);

/** An invoice that credits the amount instead of asking for it. */
export const isCredit = ({ typeCode }: Pick<Invoice, 'typeCode'>): boolean => typeCode === '381';

/** The kind of document; null for an ordinary invoice. */
export function kindOf({ typeCode }: Pick<Invoice, 'typeCode'>): string | null {
  const kinds: Readonly<Record<string, string>> = texts.value.kinds;
  if (typeCode === null || typeCode === '380') return null;
  return kinds[typeCode] ?? texts.value.kindCode(typeCode);
}

export interface Due {
  kind: 'overdue' | 'soon' | 'later';
  text: string;
}

const soonDays = 3;

/** How urgent the payment is, by the calendar; null if nobody has to pay, or it is not known until when. */
export function dueOf(invoice: Invoice, now: number = Date.now()): Due | null {
  const { state, dueDate, payableCents, totalCents } = invoice;
  const amount = payableCents ?? totalCents;
  if (state !== 'new' || dueDate === null || isCredit(invoice) || (amount !== null && amount <= 0)) return null;
  const t = texts.value;
  const days = daysBetween(dayAt(now), dueDate);
  if (days < 0) return { kind: 'overdue', text: t.overdue(-days) };
  const text = days === 0 ? t.dueToday : days === 1 ? t.dueTomorrow : t.dueIn(days);
  return { kind: days <= soonDays ? 'soon' : 'later', text };
}
