import { ServerInput, ServerTestInput } from '@portal/domain/monitoring/servers';
import { ReadableCaCertificatePem } from '@portal/platform/readable-certificates';

/** A server as it is written, and its certificates are some. */
export const ReadableServerInput = ServerInput.extend({ caCertificatePem: ReadableCaCertificatePem }).meta(
  ServerInput.meta() ?? {},
);
export const ReadableServerTestInput = ServerTestInput.extend({ caCertificatePem: ReadableCaCertificatePem }).meta(
  ServerTestInput.meta() ?? {},
);
