import { ServerInput, ServerTestInput } from '@portal/domain/monitoring/servers';
import { ReadableCaCertificatePem } from '@portal/platform/readable-certificates';

/** The input schemas, with their CA certificates parsed: text that only looks like PEM is refused. */
export const ReadableServerInput = ServerInput.extend({ caCertificatePem: ReadableCaCertificatePem }).meta(
  ServerInput.meta() ?? {},
);
export const ReadableServerTestInput = ServerTestInput.extend({ caCertificatePem: ReadableCaCertificatePem }).meta(
  ServerTestInput.meta() ?? {},
);
