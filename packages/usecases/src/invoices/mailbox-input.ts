import { InvoiceMailboxInput } from '@portal/domain/invoices/mailbox';
import { ReadableCaCertificatePem } from '@portal/platform/readable-certificates';

/** The input schema, with its CA certificates parsed: text that only looks like PEM is refused. */
export const ReadableMailboxInput = InvoiceMailboxInput.safeExtend({ caCertificatePem: ReadableCaCertificatePem }).meta(
  InvoiceMailboxInput.meta() ?? {},
);
