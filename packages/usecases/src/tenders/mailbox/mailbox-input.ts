import { AlertMailboxInput } from '@portal/domain/tenders/alert-mailbox';
import { ReadableCaCertificatePem } from '@portal/platform/readable-certificates';

/** A mailbox as it is written, and its certificates are some. */
export const ReadableAlertMailboxInput = AlertMailboxInput.safeExtend({
  caCertificatePem: ReadableCaCertificatePem,
}).meta(AlertMailboxInput.meta() ?? {});
