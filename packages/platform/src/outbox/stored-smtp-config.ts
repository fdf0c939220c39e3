import { sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { smtpConfigs } from '@portal/db/schema/mail-settings';
import type { SecretTarget } from '@portal/domain/secret-target';
import type { SmtpSettings } from '@portal/mail/smtp-settings';
import type { TenantContext } from '../context.ts';
import type { StoredSecret } from '../secrets/stored-secret.ts';

/**
 * Identifies the settings of the own server; null without an own server. PostgreSQL changes the value (`xmin`) with every change of the
 * row.
 */
export const ownServerVersion = sql<
  string | null
>`case when ${smtpConfigs.host} is not null then ${smtpConfigs}.xmin::text end`.as('own_server_version');

/**
 * The current tenant's row with the sealed password; undefined if nothing is configured. Row policies hide all other rows. `lock` locks
 * the row until the transaction ends.
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

/** Binds a sealed password to its row, so that it cannot be moved to another tenant's row. */
export const smtpPasswordContext = (tenantId: string): string => `smtp_configs.password:${tenantId}`;

/** The current tenant's stored password. */
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

/** The server that a password with these settings is sent to. */
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

/** Like `smtpTarget`, for settings that may name no server; null if they name none. */
export const ownSmtpTarget = ({
  host,
  port,
  security,
  ...settings
}: Pick<StoredSmtpConfig, 'host' | 'port' | 'security' | 'username' | 'verifyTls'>): SecretTarget | null =>
  host === null || port === null || security === null ? null : smtpTarget({ ...settings, host, port, security });
