import type { Tx } from '@portal/db/open';
import { smtpConfigs } from '@portal/db/schema/mail-settings';

/** The row of the tenant at work, its password sealed; undefined while nothing is set. Row policies leave only one to be found. */
export const storedSmtpConfig = async (db: Pick<Tx, 'select'>) => {
  const [row] = await db
    .select({
      host: smtpConfigs.host,
      port: smtpConfigs.port,
      security: smtpConfigs.security,
      username: smtpConfigs.username,
      password: smtpConfigs.password,
      fromAddress: smtpConfigs.fromAddress,
      fromName: smtpConfigs.fromName,
      replyTo: smtpConfigs.replyTo,
      verifyTls: smtpConfigs.verifyTls,
      bugReportRecipient: smtpConfigs.bugReportRecipient,
    })
    .from(smtpConfigs);
  return row;
};
