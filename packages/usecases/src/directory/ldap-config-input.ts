import { LdapConfigInput } from '@portal/domain/directory/config';
import { ReadableCaCertificatePem } from '@portal/platform/readable-certificates';

/** The settings of a directory, and its certificates are some. */
export const ReadableLdapConfigInput = LdapConfigInput.safeExtend({
  caCertificatePem: ReadableCaCertificatePem,
}).meta(LdapConfigInput.meta() ?? {});
