import { describe, expect, it } from 'vitest';
import type { InvoiceData, InvoiceFormat } from '@portal/domain/invoices/invoices';
import { invoiceSample, invoiceSamples } from '@portal/testing/einvoice-samples';
import { readDocument } from './documents.ts';

type Expected = [
  format: InvoiceFormat,
  typeCode: string,
  number: string,
  date: string,
  dueDate: string | null,
  seller: string,
  sellerVatId: string | null,
  buyer: string,
  iban: string | null,
  totalCents: number,
  payableCents: number | null,
];

const kosit = 'xrechnung-testsuite/';
const corpus = 'zugferd-corpus/';
const iban = 'DE79000000001234567890';
const plain = [
  '380',
  '123456XX',
  '2016-04-04',
  null,
  '[Seller name]',
  'DE123456789',
  '[Buyer name]',
  iban,
  336_90,
  336_90,
] as const;
const minimal = [
  '380',
  '1234567',
  '2018-04-13',
  '2018-04-13',
  '[Seller name]',
  null,
  '[Buyer name]',
  iban,
  4_743_75,
  4_743_75,
] as const;
const twoMeans = [
  '380',
  'PRG1502112',
  '2015-04-24',
  null,
  '[Seller name]',
  'DE123456789',
  '[Buyer name]',
  iban,
  10_555_30,
  10_555_30,
] as const;
const zugferd = ['471102', '2018-03-05', null, 'Lieferant GmbH', 'DE123456789', 'Kunden AG Mitte'] as const;

/** The data a careful reader finds in each sample; all amounts are in euros. */
const table: Record<string, Expected> = {
  // The due date is only text; the VAT id contains a space, and amounts have one decimal.
  [`${kosit}01.01a-INVOICE_ubl.xml`]: ['xrechnung', ...plain],
  [`${kosit}01.01a-INVOICE_uncefact.xml`]: ['xrechnung', ...plain],
  // A tax number, but no VAT id.
  [`${kosit}01.05_minimal_test_ubl.xml`]: ['xrechnung', ...minimal],
  [`${kosit}01.05_minimal_test_uncefact.xml`]: ['xrechnung', ...minimal],
  [`${kosit}01.05a-INVOICE_ubl.xml`]: ['xrechnung', ...twoMeans],
  [`${kosit}01.05a-INVOICE_uncefact.xml`]: ['xrechnung', ...twoMeans],
  // A prepayment of 10,000 euros.
  [`${kosit}04.01a-INVOICE_ubl.xml`]: [
    'xrechnung',
    '380',
    '12345',
    '2019-05-15',
    null,
    'M. Meier Handwerk GbR',
    'DE/12/345/67890',
    'Beispielkunde',
    iban,
    14_918_84,
    4_918_84,
  ],
  [`${corpus}EN16931_Einfach.cii.xml`]: ['cii', '380', ...zugferd, null, 529_87, 529_87],
  [`${corpus}EN16931_Gutschrift.cii.xml`]: ['cii', '389', ...zugferd, null, 529_87, 529_87],
  [`${corpus}EN16931_Einfach.pdf`]: ['zugferd', '380', ...zugferd, null, 529_87, 529_87],
  [`${corpus}XRECHNUNG_Einfach.pdf`]: ['zugferd', '380', ...zugferd, 'DE02120300000000202051', 529_87, 529_87],
  // ZUGFeRD 1.0 elements, without the amount left to pay.
  [`${corpus}ZUGFeRD_1p0_BASIC_Einfach.pdf`]: [
    'zugferd',
    '380',
    '471102',
    '2013-03-05',
    null,
    'Lieferant GmbH',
    'DE123456789',
    'Kunden AG Mitte',
    'DE08700901001234567890',
    235_62,
    null,
  ],
  // Type 751 is a booking aid, not a full invoice.
  [`${corpus}zugferd_2p0_MINIMUM.pdf`]: ['zugferd', '751', ...zugferd, null, 235_62, 235_62],
  // Its XML begins with a byte order mark.
  [`${corpus}MustangGnuaccountingBeispielRE-20201121_508_withBOM.pdf`]: [
    'zugferd',
    '380',
    'RE-20201121/508',
    '2020-11-21',
    '2020-12-12',
    'Bei Spiel GmbH',
    'DE136695976',
    'Theodor Est',
    'DE88200800000970375700',
    571_04,
    571_04,
  ],
};

describe('every sample', () => {
  it('is in the table', () => {
    expect(Object.keys(table).toSorted()).toEqual(invoiceSamples());
  });

  it.each(Object.entries(table))('%s is read as a careful reader reads it', async (path, expected) => {
    const [format, typeCode, number, date, dueDate, seller, sellerVatId, buyer, account, totalCents, payableCents] =
      expected;
    const kind = path.endsWith('.pdf') ? 'pdf' : 'xml';
    const data: InvoiceData = {
      typeCode,
      number,
      date,
      dueDate,
      seller,
      sellerVatId,
      buyer,
      currency: 'EUR',
      totalCents,
      payableCents,
      iban: account,
    };
    expect(await readDocument({ kind, bytes: invoiceSample(path) })).toEqual({ format, data, error: null });
  });
});
