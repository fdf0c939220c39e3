import { InvoiceMailboxInput } from '@portal/domain/invoices/mailbox';
import { ReadableCaCertificatePem } from '@portal/platform/readable-certificates';

/** A mailbox as it is written, and its certificates are some. */
export const ReadableMailboxInput = InvoiceMailboxInput.safeExtend({ caCertificatePem: ReadableCaCertificatePem }).meta(
  InvoiceMailboxInput.meta() ?? {},
);
