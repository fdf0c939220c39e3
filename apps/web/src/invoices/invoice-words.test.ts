import { beforeEach, describe, expect, it } from 'vitest';
import type { Invoice } from '@portal/client/interface';
import { language } from '../language.ts';
import { dueOf, formatAmount, formatInvoiceDay, kindOf, nameOf } from './invoice-words.ts';

const invoice = {
  state: 'new',
  typeCode: '380',
  dueDate: '2026-11-20',
  payableCents: 1_00,
  totalCents: 1_00,
} as Invoice;

beforeEach(() => {
  language.value = 'en';
});

describe('when an invoice is due', () => {
  // 00:30 in Berlin, when it is still the day before in UTC.
  const midnight = Date.parse('2026-11-19T23:30:00Z');
  it.each([
    ['2026-11-20', 'soon', 'today'],
    ['2026-11-21', 'soon', 'tomorrow'],
    ['2026-11-23', 'soon', 'in 3 days'],
    ['2026-11-24', 'later', 'in 4 days'],
    ['2026-11-19', 'overdue', '1 day overdue'],
    ['2026-10-20', 'overdue', '31 days overdue'],
  ])('%s is %s', (dueDate, kind, text) => expect(dueOf({ ...invoice, dueDate }, midnight)).toEqual({ kind, text }));

  it.each([
    { state: 'processed' },
    { state: 'duplicate' },
    { typeCode: '381' },
    { payableCents: 0 },
    { dueDate: null },
  ] as const)('%j is not due', (change) => expect(dueOf({ ...invoice, ...change }, midnight)).toBeNull());
});

it('shows amounts in their currency, under any name a document gives it', () => {
  expect(formatAmount(119_00, 'EUR')).toBe('€119.00');
  expect(formatAmount(119_50, 'JPY')).toBe('JP¥119.5');
  expect(formatAmount(119_50, 'Euro')).toBe('119.50 Euro');
  expect(formatAmount(119_50, null)).toBe('119.50');
  expect(formatAmount(null, 'EUR')).toBeNull();
  language.value = 'de';
  expect(formatAmount(-1_234_50, 'EUR')).toBe('-1.234,50\u00A0€');
});

it('names an invoice, its kind and its days', () => {
  expect(nameOf({ number: null, fileName: 'a.pdf', subject: 'Hello' })).toBe('a.pdf');
  expect(nameOf({ number: null, fileName: null, subject: null })).toBe('Invoice without a number');
  expect([kindOf({ typeCode: '380' }), kindOf({ typeCode: '381' }), kindOf({ typeCode: '999' })]).toEqual([
    null,
    'Credit note',
    'Code 999',
  ]);
  expect(formatInvoiceDay('2026-11-20')).toBe('20 Nov 2026');
});
