import { describe, expect, it } from 'vitest';
import { ublInvoice } from '@portal/testing/invoices';
import { centsOf, dateOf, firstIban } from './fields.ts';
import { readXml } from './xml.ts';

const umlauts = ublInvoice({ seller: 'Müller & Söhne'.replace('&', '&amp;') });
const declaring = (encoding: string) => umlauts.replace('encoding="UTF-8"', `encoding="${encoding}"`);
const swapped = (bytes: Buffer) => Buffer.from(bytes).swap16();

describe('an XML is read in any encoding', () => {
  it.each([
    ['UTF-8', Buffer.from(umlauts)],
    ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${umlauts}`)],
    ['UTF-16 with a byte order mark', Buffer.from(`\uFEFF${declaring('UTF-16')}`, 'utf16le')],
    ['big-endian UTF-16 with a byte order mark', swapped(Buffer.from(`\uFEFF${declaring('UTF-16')}`, 'utf16le'))],
    ['UTF-16 without a byte order mark', Buffer.from(declaring('UTF-16'), 'utf16le')],
    ['ISO-8859-1', Buffer.from(declaring('ISO-8859-1'), 'latin1')],
    ['Windows-1252', Buffer.from(declaring('windows-1252'), 'latin1')],
    ['UTF-8 declared as UTF-16', Buffer.from(declaring('UTF-16'))],
    ['UTF-8 declared under an unknown name', Buffer.from(declaring('x-lieferant-7'))],
    ['Latin-1 declared as UTF-8', Buffer.from(umlauts, 'latin1')],
    ['numeric character references', Buffer.from(umlauts.replace('ü', '&#252;').replace('ö', '&#xF6;'))],
  ])('%s', (_, bytes) => {
    expect(readXml(bytes)).toMatchObject({ error: null, data: { seller: 'Müller & Söhne', number: 'R-1000' } });
  });
});

const laughs = `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha">${Array.from({ length: 9 }, (_, n) => `<!ENTITY b${n} "${`&b${n - 1};`.repeat(10)}">`).join('')}]>${ublInvoice().slice(39)}`;

describe('an XML that is not a supported invoice', () => {
  it.each([
    ['billion laughs', laughs, { error: 'XML_REFUSED' }],
    ['billion laughs in UTF-16', Buffer.from(`\uFEFF${laughs}`, 'utf16le'), { error: 'XML_REFUSED' }],
    [
      'an external entity',
      ublInvoice().replace('?>', '?><!DOCTYPE x SYSTEM "file:///etc/passwd">'),
      { error: 'XML_REFUSED' },
    ],
    ['a page that is no XML', '<!doctype html><html><body><p>Rechnung<br></html>', { error: 'XML_REFUSED' }],
    ['a page without a DOCTYPE', '<html><body><p>Rechnung<br></body></html>', { error: 'XML_REFUSED' }],
    ['nothing', '', { error: 'XML_REFUSED' }],
    ['text', 'Bitte überweisen Sie 119 Euro.', { error: 'XML_REFUSED' }],
    ['a truncated invoice', ublInvoice().slice(0, 1_000), { error: 'DAMAGED' }],
    ['endlessly nested elements', '<a>'.repeat(5_000) + '</a>'.repeat(5_000), { error: 'DAMAGED' }],
    [
      'an order',
      '<Order xmlns="urn:oasis:names:specification:ubl:schema:xsd:Order-2"><ID>1</ID></Order>',
      { format: 'other', error: null },
    ],
    [
      'an invoice of another namespace',
      ublInvoice().replace('xsd:Invoice-2', 'xsd:Invoice-3'),
      { format: 'other', error: null },
    ],
    ['names of JavaScript properties', '<__proto__><toString>1</toString></__proto__>', { error: 'DAMAGED' }],
  ])('%s', (_, bytes, expected) => {
    expect(readXml(Buffer.from(bytes))).toMatchObject({ data: null, ...expected });
  });

  it('with many comments and no root is refused in time', () => {
    const before = process.cpuUsage();
    expect(readXml(Buffer.from(`${'<!-- a -->'.repeat(200_000)}${' '.repeat(200_000)}!`)).error).toBe('XML_REFUSED');
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000);
  });

  it('with a million elements is too large, and is not parsed', () => {
    const before = process.cpuUsage();
    const note = `</cbc:Note>${'<x>1</x>'.repeat(1_000_000)}<cbc:Note>`;
    expect(readXml(Buffer.from(ublInvoice({ note }))).error).toBe('TOO_LARGE');
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });

  it('beyond 20 MiB is too large, and is not decoded', () => {
    expect(readXml(Buffer.alloc(20 * 1024 * 1024 + 1, '<a/>')).error).toBe('TOO_LARGE');
  });
});

describe('the data of an invoice', () => {
  it('keeps leading zeros, also with entities and CDATA in the notes', () => {
    const note = `${'&amp;'.repeat(5_000)}<![CDATA[<x>]]>`;
    expect(readXml(Buffer.from(ublInvoice({ number: '00012', note }))).data?.number).toBe('00012');
  });

  it('has the type of a credit note, and the due date of its means of payment', () => {
    const creditNote = ublInvoice()
      .replaceAll('Invoice-2', 'CreditNote-2')
      .replaceAll(/(<\/?)Invoice\b/g, '$1CreditNote')
      .replace('<cbc:InvoiceTypeCode>380</cbc:InvoiceTypeCode>', '<cbc:CreditNoteTypeCode>381</cbc:CreditNoteTypeCode>')
      .replace(
        '<cac:LegalMonetaryTotal>',
        '<cac:PaymentMeans><cbc:PaymentDueDate>2026-12-01</cbc:PaymentDueDate></cac:PaymentMeans><cac:LegalMonetaryTotal>',
      );
    expect(readXml(Buffer.from(creditNote))).toMatchObject({
      format: 'ubl',
      data: { typeCode: '381', dueDate: '2026-12-01', totalCents: 119_00 },
    });
  });

  it('has the VAT id of the VAT tax scheme, without spaces', () => {
    expect(readXml(Buffer.from(ublInvoice())).data?.sellerVatId).toBe('DE123456789');
    expect(
      readXml(Buffer.from(ublInvoice().replace('<cbc:ID>VAT</cbc:ID>', '<cbc:ID>FC</cbc:ID>'))).data?.sellerVatId,
    ).toBeNull();
  });

  it('is read with other namespace prefixes and single quotes', () => {
    const renamed = ublInvoice()
      .replaceAll('cbc:', 'b:')
      .replaceAll('xmlns:cbc', 'xmlns:b')
      .replaceAll(/(xmlns[^=]*)="([^"]*)"/g, "$1 = '$2'");
    expect(readXml(Buffer.from(renamed)).data).toMatchObject({ number: 'R-1000', totalCents: 119_00 });
  });

  it.each([
    ['119.00', 119_00],
    ['336.9', 336_90],
    ['14918.84', 14_918_84],
    ['5', 5_00],
    ['-12.345', -12_35],
    ['1.005', 1_01],
    ['0.994999', 99],
    ['-0.001', 0],
    ['+7.', 7_00],
    ['9999999999999.99', 999_999_999_999_999],
    ['99999999999999', null],
    ['1,50', null],
    ['1e5', null],
    ['', null],
    ['NaN', null],
  ])('the amount %j is %j cents', (text, cents) => expect(centsOf(text)).toBe(cents));

  it.each([
    ['2026-11-20', '2026-11-20'],
    ['2026-11-20+01:00', '2026-11-20'],
    ['2026-11-20T10:00:00Z', '2026-11-20'],
    ['20261120', '2026-11-20'],
    ['202611201030', '2026-11-20'],
    ['2026-02-30', null],
    ['0001-01-01', null],
    ['20.11.2026', null],
    ['14 Tage', null],
  ])('the date %j is %j', (text, date) => expect(dateOf(text)).toBe(date));

  it('has the first IBAN, ignoring other account numbers', () => {
    expect(firstIban(['1234567', null, 'de79 0000 0000 1234 5678 90', 'DE16000000002345678901'])).toBe(
      'DE79000000001234567890',
    );
    expect(firstIban(['1234567'])).toBeNull();
  });
});
