import { InvoiceMailboxInput } from '@portal/domain/invoices/mailbox';
import type { TenantContext } from '@portal/platform/context';
import { addRun } from '@portal/platform/runs/start';
import { beginRun, endRun, type RunAtWork } from '@portal/platform/runs/state';
import { type FetchLimits, fetchTenantInvoices } from '@portal/usecases/invoices/fetch/fetch-invoices';
import { fetchInvoices } from '@portal/usecases/invoices/jobs';

export interface Attachment {
  name?: string;
  type?: string;
  bytes: string | Uint8Array;
  /** Default base64. */
  encoding?: '8bit';
}

export interface MailParts {
  from?: string;
  subject?: string;
  /** Null for a mail without a Message-ID. */
  messageId?: string | null;
  date?: string;
  attachments?: Attachment[];
}

let mails = 0;

/** A mail in the form that invoice programs send. */
export function mailWith({
  from = 'rechnung@lieferant.example',
  subject = 'Ihre Rechnung',
  messageId,
  date = 'Fri, 20 Nov 2026 10:00:00 +0100',
  attachments = [],
}: MailParts = {}): Buffer {
  mails += 1;
  const id = messageId === undefined ? `<${mails}.${process.pid}@lieferant.example>` : messageId;
  const boundary = `part${mails}`;
  const parts = attachments.map(({ name, type = 'application/octet-stream', bytes, encoding }) => {
    const content = Buffer.from(bytes);
    const named = name === undefined ? '' : `\r\nContent-Disposition: attachment; filename="${name}"`;
    return Buffer.concat([
      Buffer.from(
        `--${boundary}\r\nContent-Type: ${type}${named}\r\nContent-Transfer-Encoding: ${encoding ?? 'base64'}\r\n\r\n`,
      ),
      encoding ? content : Buffer.from(content.toString('base64').replaceAll(/.{76}/g, '$&\r\n')),
      Buffer.from('\r\n'),
    ]);
  });
  const head = [
    `From: Lieferant <${from}>`,
    'To: rechnung@stadtwerke.example',
    `Subject: ${subject}`,
    `Date: ${date}`,
    ...(id === null ? [] : [`Message-ID: ${id}`]),
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary=${boundary}`,
    '',
    `--${boundary}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Guten Tag, anbei die Rechnung.',
    '',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head), ...parts, Buffer.from(`--${boundary}--\r\n`)]);
}

export interface UblFields {
  number?: string;
  date?: string;
  seller?: string;
  vatId?: string;
  total?: string;
  note?: string;
}

/** A small UBL invoice; `note` changes the bytes of the same invoice. */
export const ublInvoice = ({
  number = 'R-1000',
  date = '2026-11-20',
  seller = 'Lieferant GmbH',
  vatId = 'DE 123 456 789',
  total = '119.00',
  note = '',
}: UblFields = {}): string => `<?xml version="1.0" encoding="UTF-8"?>
<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2" xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2" xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
  <cbc:CustomizationID>urn:cen.eu:en16931:2017</cbc:CustomizationID>
  <cbc:ID>${number}</cbc:ID>
  <cbc:IssueDate>${date}</cbc:IssueDate>
  <cbc:InvoiceTypeCode>380</cbc:InvoiceTypeCode>
  <cbc:Note>${note}</cbc:Note>
  <cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
  <cac:AccountingSupplierParty><cac:Party>
    <cac:PartyTaxScheme><cbc:CompanyID>12/345/67890</cbc:CompanyID><cac:TaxScheme><cbc:ID>FC</cbc:ID></cac:TaxScheme></cac:PartyTaxScheme>
    <cac:PartyTaxScheme><cbc:CompanyID>${vatId}</cbc:CompanyID><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:PartyTaxScheme>
    <cac:PartyLegalEntity><cbc:RegistrationName>${seller}</cbc:RegistrationName></cac:PartyLegalEntity>
  </cac:Party></cac:AccountingSupplierParty>
  <cac:AccountingCustomerParty><cac:Party><cac:PartyLegalEntity><cbc:RegistrationName>Stadtwerke Beispielstadt</cbc:RegistrationName></cac:PartyLegalEntity></cac:Party></cac:AccountingCustomerParty>
  <cac:LegalMonetaryTotal><cbc:TaxInclusiveAmount currencyID="EUR">${total}</cbc:TaxInclusiveAmount><cbc:PayableAmount currencyID="EUR">${total}</cbc:PayableAmount></cac:LegalMonetaryTotal>
</Invoice>
`;

/** A mail with one invoice as XML. */
export const invoiceMail = (fields: UblFields = {}, mail: MailParts = {}): Buffer =>
  mailWith({
    ...mail,
    attachments: [{ name: `${fields.number ?? 'R-1000'}.xml`, type: 'application/xml', bytes: ublInvoice(fields) }],
  });

/** Mailbox settings for an account on an unencrypted local mail server. */
export const mailboxForm = (
  server: { host: string; port: number; password?: string },
  username: string,
  more: Partial<InvoiceMailboxInput> = {},
): InvoiceMailboxInput =>
  InvoiceMailboxInput.parse({
    host: server.host,
    port: server.port,
    security: 'none',
    username,
    password: server.password ?? 'mailbox-secret',
    ...more,
  });

/** Begins a run as the worker does; end it with `endRun`. */
export async function beginFetch(ctx: TenantContext): Promise<RunAtWork> {
  const id = await ctx.tx((tx) => addRun(tx, fetchInvoices, { tenantId: ctx.tenantId }, { startedBy: null }));
  const run = await beginRun(ctx, id);
  if (!run) throw new Error('the run did not begin');
  return run;
}

/** Fetches once as the worker does. Returns the last progress of the run; throws its error. */
export async function fetchNow(
  ctx: TenantContext,
  { limits, signal = new AbortController().signal }: { limits?: FetchLimits; signal?: AbortSignal } = {},
): Promise<{ done: number; total: number } | null> {
  const run = await beginFetch(ctx);
  let last: { done: number; total: number } | null = null;
  const progress = (done: number, total: number) => {
    last = { done, total };
  };
  try {
    await fetchTenantInvoices(ctx, { run, signal, actorId: null, progress }, limits);
    return last;
  } finally {
    await endRun(ctx, run, { error: null });
  }
}
