import { AlertMailboxInput } from '@portal/domain/tenders/alert-mailbox';
import { ReadableCaCertificatePem } from '@portal/platform/readable-certificates';

/** The input schema, with its CA certificates parsed: text that only looks like PEM is refused. */
export const ReadableAlertMailboxInput = AlertMailboxInput.safeExtend({
  caCertificatePem: ReadableCaCertificatePem,
}).meta(AlertMailboxInput.meta() ?? {});
