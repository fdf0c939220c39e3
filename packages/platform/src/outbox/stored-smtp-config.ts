import { sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { smtpConfigs } from '@portal/db/schema/mail-settings';
import type { SecretTarget } from '@portal/domain/secret-target';
import type { SmtpSettings } from '@portal/mail/smtp-settings';
import type { TenantContext } from '../context.ts';
import type { StoredSecret } from '../secrets/stored-secret.ts';

/**
 * Which settings of an own server these are, null for none: another value after every change of the row, whoever made it. The
 * database keeps it by itself.
 */
export const ownServerVersion = sql<
  string | null
>`case when ${smtpConfigs.host} is not null then ${smtpConfigs}.xmin::text end`.as('own_server_version');

/**
 * The row of the tenant at work, its password sealed; undefined while nothing is set. Row policies leave only one to be found. Locked
 * until the transaction ends when it is about to change.
 */
export const storedSmtpConfig = async (db: Pick<Tx, 'select'>, lock?: 'update') => {
  const query = db
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
      version: ownServerVersion,
    })
    .from(smtpConfigs);
  const [row] = await (lock ? query.for(lock) : query);
  return row;
};

export type StoredSmtpConfig = NonNullable<Awaited<ReturnType<typeof storedSmtpConfig>>>;

/** Binds a sealed password to its place, so that it cannot be carried to another tenant's row. */
export const smtpPasswordContext = (tenantId: string): string => `smtp_configs.password:${tenantId}`;

/** The password of the tenant at work as its row has it. */
export const storedSmtpPassword = (
  { tenantId, secrets }: Pick<TenantContext, 'tenantId' | 'secrets'>,
  stored: StoredSmtpConfig | undefined,
): StoredSecret =>
  secrets.at({
    context: smtpPasswordContext(tenantId),
    field: 'password',
    sealed: stored?.password ?? null,
    target: stored ? ownSmtpTarget(stored) : null,
  });

/** Where a password goes along with these settings. */
export const smtpTarget = ({
  host,
  port,
  security,
  username,
  verifyTls,
}: Pick<SmtpSettings, 'host' | 'port' | 'security' | 'verifyTls'> & { username: string | null }): SecretTarget => ({
  scheme: 'smtp',
  host: host.toLowerCase(),
  port,
  account: username,
  encryption: security,
  verifiesCertificate: verifyTls,
  authorities: null,
});

/** The same for settings that need not name a server; null when they name none. */
export const ownSmtpTarget = ({
  host,
  port,
  security,
  ...settings
}: Pick<StoredSmtpConfig, 'host' | 'port' | 'security' | 'username' | 'verifyTls'>): SecretTarget | null =>
  host === null || port === null || security === null ? null : smtpTarget({ ...settings, host, port, security });
