import { LdapConfigInput } from '@portal/domain/directory/config';
import { ReadableCaCertificatePem } from '@portal/platform/readable-certificates';

/** The input schema, with its CA certificates parsed: text that only looks like PEM is refused. */
export const ReadableLdapConfigInput = LdapConfigInput.safeExtend({
  caCertificatePem: ReadableCaCertificatePem,
}).meta(LdapConfigInput.meta() ?? {});
