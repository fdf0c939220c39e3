import { z } from 'zod';
import { Id } from '../ids.ts';
import { line } from '../text.ts';
import { Instant } from '../time.ts';

export const InvoiceFormat = z
  .enum(['xrechnung', 'zugferd', 'ubl', 'cii', 'other'])
  .describe(
    '`zugferd` an XML inside a PDF · `xrechnung` an XML that says so by its guideline · `ubl`, `cii` another XML of that syntax · `other` no data that is read',
  );
export type InvoiceFormat = z.output<typeof InvoiceFormat>;

export const InvoiceState = z
  .enum(['new', 'processed', 'duplicate', 'failed'])
  .describe(
    '`new` it was read · `processed` somebody has dealt with it · `duplicate` another document with the same seller, number, date and total came before · `failed` it could not be read, see `error`',
  );
export type InvoiceState = z.output<typeof InvoiceState>;

export const InvoiceError = z
  .enum(['ENCRYPTED', 'DAMAGED', 'UNSUPPORTED', 'TOO_LARGE', 'XML_REFUSED'])
  .describe(
    '`ENCRYPTED` it is locked with a password · `DAMAGED` it cannot be read · `UNSUPPORTED` an archive or something else that is not opened here · `TOO_LARGE` the mail, its documents or what they unfold to · `XML_REFUSED` an XML with a DOCTYPE, or one that is none',
  );
export type InvoiceError = z.output<typeof InvoiceError>;

/** What is read of a document; null is what it does not say. */
export interface InvoiceData {
  /** As the document has it: `380`, `381`, `389` … */
  typeCode: string | null;
  number: string | null;
  /** `2026-11-20` */
  date: string | null;
  dueDate: string | null;
  seller: string | null;
  sellerVatId: string | null;
  buyer: string | null;
  /** ISO 4217 */
  currency: string | null;
  totalCents: number | null;
  payableCents: number | null;
  iban: string | null;
}

const InvoiceFile = z.object({
  fileName: z.string(),
  type: z.string().describe('By content'),
  sizeBytes: z.int(),
});

export const Invoice = z
  .object({
    id: Id,
    state: InvoiceState,
    error: InvoiceError.nullable(),
    duplicateOf: Id.nullable().describe('The first invoice with the same seller, number, date and total'),
    format: InvoiceFormat,
    typeCode: z.string().nullable().describe('`380` invoice, `381` credit note, `389` self-billed invoice …'),
    number: z.string().nullable(),
    date: z.iso.date().nullable(),
    dueDate: z.iso.date().nullable().describe('Null where the terms of payment are text alone'),
    seller: z.string().nullable(),
    sellerVatId: z.string().nullable().describe('Without blanks'),
    buyer: z.string().nullable(),
    currency: z.string().nullable(),
    totalCents: z.int().nullable().describe('With tax, as the document has it, in hundredths of the currency'),
    payableCents: z.int().nullable().describe('What is left to be paid; differs from the total after a prepayment'),
    iban: z.string().nullable().describe('The first one'),
    receivedAt: Instant.describe('When the mail arrived in the mailbox'),
    sender: z.string().nullable().describe('The address the mail says it comes from'),
    subject: z.string().nullable().describe('Of the mail'),
    fileName: z.string().nullable().describe('Of the first file; null for a mail that was too large to be kept'),
    files: z
      .array(InvoiceFile)
      .describe(
        'What `GET /invoices/{id}/document` serves, the document that was read first; a PDF beside an XML follows',
      ),
  })
  .meta({
    id: 'Invoice',
    example: {
      id: '0198d3d8-1f2e-7a3b-8c4d-5e6f708192a3',
      state: 'new',
      error: null,
      duplicateOf: null,
      format: 'xrechnung',
      typeCode: '380',
      number: 'R-2026-0815',
      date: '2026-11-16',
      dueDate: '2026-12-16',
      seller: 'Bürobedarf Nord GmbH',
      sellerVatId: 'DE123456789',
      buyer: 'Stadtwerke Beispielstadt',
      currency: 'EUR',
      totalCents: 119_00,
      payableCents: 119_00,
      iban: 'DE02120300000000202051',
      receivedAt: '2026-11-16T09:12:44.000Z',
      sender: 'rechnung@buerobedarf-nord.example',
      subject: 'Ihre Rechnung R-2026-0815',
      fileName: 'R-2026-0815.xml',
      files: [{ fileName: 'R-2026-0815.xml', type: 'application/xml', sizeBytes: 13_284 }],
    },
  });
export type Invoice = z.output<typeof Invoice>;

/** What a person says of an invoice. */
export const InvoiceChange = z
  .object({ state: z.enum(['new', 'processed']) })
  .meta({ example: { state: 'processed' } });
export type InvoiceChange = z.output<typeof InvoiceChange>;

export const InvoiceSearch = line();

/**
 * What two documents share that are the same invoice: seller, number, date and total. Null where one of them is missing, for then nobody
 * can tell. A seller is told by its VAT id, and by its name without one.
 */
export function invoiceIdentity({
  seller,
  sellerVatId,
  number,
  date,
  totalCents,
  currency,
}: InvoiceData): string | null {
  const who = sellerVatId ?? seller?.toLowerCase().replaceAll(/\s+/g, ' ') ?? null;
  if (who === null || number === null || date === null || totalCents === null) return null;
  return JSON.stringify([who, number, date, totalCents, currency]);
}
