import { z } from 'zod';
import { Id } from '../ids.ts';
import { line } from '../text.ts';
import { Instant } from '../time.ts';

export const InvoiceFormat = z
  .enum(['xrechnung', 'zugferd', 'ubl', 'cii', 'other'])
  .describe(
    '`zugferd` an XML inside a PDF · `xrechnung` an XML whose guideline is XRechnung · `ubl`, `cii` any other XML of that syntax · `other` no data that can be extracted',
  );
export type InvoiceFormat = z.output<typeof InvoiceFormat>;

export const InvoiceState = z
  .enum(['new', 'processed', 'duplicate', 'failed'])
  .describe(
    '`new` read, but not processed yet · `processed` marked as processed by a user · `duplicate` an earlier document has the same seller, number, date and total · `failed` could not be read, see `error`',
  );
export type InvoiceState = z.output<typeof InvoiceState>;

export const InvoiceError = z
  .enum(['ENCRYPTED', 'DAMAGED', 'UNSUPPORTED', 'TOO_LARGE', 'XML_REFUSED'])
  .describe(
    '`ENCRYPTED` protected by a password · `DAMAGED` cannot be read · `UNSUPPORTED` an archive or another format that is not opened · `TOO_LARGE` the mail, its documents or their unpacked contents are too large · `XML_REFUSED` an XML with a DOCTYPE, or not valid XML',
  );
export type InvoiceError = z.output<typeof InvoiceError>;

/** The data read from a document; missing fields are null. */
export interface InvoiceData {
  /** As stated in the document: `380`, `381`, `389` … */
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
  type: z.string().describe('Detected from the content'),
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
    dueDate: z.iso.date().nullable().describe('Null if the terms of payment are only text'),
    seller: z.string().nullable(),
    sellerVatId: z.string().nullable().describe('Without spaces'),
    buyer: z.string().nullable(),
    currency: z.string().nullable(),
    totalCents: z
      .int()
      .nullable()
      .describe('Total including tax, as stated in the document, in hundredths of the currency'),
    payableCents: z.int().nullable().describe('Amount left to pay; differs from the total after a prepayment'),
    iban: z.string().nullable().describe('The first IBAN in the document'),
    receivedAt: Instant.describe('When the mail arrived in the mailbox'),
    sender: z.string().nullable().describe('The sender address stated in the mail'),
    subject: z.string().nullable().describe('Subject of the mail'),
    fileName: z.string().nullable().describe('Name of the first file; null for a mail that was too large to be stored'),
    files: z
      .array(InvoiceFile)
      .describe(
        'The files `GET /invoices/{id}/document` returns; the document the data comes from is first, then a PDF that came with an XML',
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

/** The change a user can make to an invoice. */
export const InvoiceChange = z
  .object({
    state: InvoiceState.describe(
      '`duplicate` and `failed` only give an invoice back the state it was read with: it must have `duplicateOf` or `error`',
    ),
  })
  .meta({ example: { state: 'processed' } });
export type InvoiceChange = z.output<typeof InvoiceChange>;

export const InvoiceSearch = line();

/**
 * Identifies an invoice across documents by seller, number, date and total. Null if one of them is missing. The VAT id identifies the
 * seller; without one, the name does.
 */
export function invoiceIdentity({
  seller,
  sellerVatId,
  number,
  date,
  totalCents,
  currency,
}: InvoiceData): string | null {
  const sellerKey = sellerVatId ?? seller?.toLowerCase().replaceAll(/\s+/g, ' ') ?? null;
  if (sellerKey === null || number === null || date === null || totalCents === null) return null;
  return JSON.stringify([sellerKey, number, date, totalCents, currency]);
}
