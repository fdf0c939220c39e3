import { eq } from 'drizzle-orm';
import { LdapError } from '@portal/connectors/ldap/ldap-error';
import { ldapAddress, type LdapHost, type LdapServer } from '@portal/connectors/ldap/server';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { ldapConfigs } from '@portal/db/schema/directory';
import { normalizeUsername } from '@portal/domain/accounts/accounts';
import { conflict } from '@portal/domain/errors';
import type { SecretInput } from '@portal/domain/secret-input';
import type { SecretTarget } from '@portal/domain/secret-target';
import type { TenantContext } from '@portal/platform/context';
import { UnreadableSecretError } from '@portal/platform/secrets/sealed';
import type { StoredSecret } from '@portal/platform/secrets/stored-secret';

/**
 * Reads the settings of the current tenant with the sealed password; undefined while nothing is set. Row policies hide those of other
 * tenants. With `lock`, locks the row until the transaction ends.
 */
export const storedLdapConfig = async (db: Pick<Tx, 'select'>, lock?: 'update') => {
  const query = db
    .select({
      serverUrl: ldapConfigs.serverUrl,
      startTls: ldapConfigs.startTls,
      baseDn: ldapConfigs.baseDn,
      bindDn: ldapConfigs.bindDn,
      bindPassword: ldapConfigs.bindPassword,
      userFilter: ldapConfigs.userFilter,
      syncIntervalMin: ldapConfigs.syncIntervalMin,
      isActive: ldapConfigs.isActive,
      includeDns: ldapConfigs.includeDns,
      userExcludeList: ldapConfigs.userExcludeList,
      skipTlsVerify: ldapConfigs.skipTlsVerify,
      caCertificatePem: ldapConfigs.caCertificatePem,
    })
    .from(ldapConfigs);
  const [row] = await (lock ? query.for(lock) : query);
  return row;
};

export type StoredLdapConfig = NonNullable<Awaited<ReturnType<typeof storedLdapConfig>>>;

/** Reads the tenant's directory settings; throws 409 `DIRECTORY_NOT_CONFIGURED` if there are none. */
export async function configuredDirectory(ctx: TenantContext): Promise<StoredLdapConfig> {
  const stored = await ctx.read(storedLdapConfig);
  if (!stored) throw conflict('DIRECTORY_NOT_CONFIGURED');
  return stored;
}

/** The exclude list with normalized usernames. */
export const excludedNames = ({ userExcludeList }: StoredLdapConfig): Set<string> =>
  new Set(userExcludeList.map(normalizeUsername));

/** Binds a sealed bind password to its tenant, so that it cannot be opened in another tenant's row. */
export const bindPasswordContext = (tenantId: string): string => `ldap_configs.bind_password:${tenantId}`;

type SecretsOfTenant = Pick<TenantContext, 'tenantId' | 'secrets' | 'log' | 'config'>;

/** The stored bind password of the current tenant. */
export const storedBindPassword = (
  { tenantId, secrets }: Pick<SecretsOfTenant, 'tenantId' | 'secrets'>,
  stored: StoredLdapConfig | undefined,
): StoredSecret =>
  secrets.at({
    context: bindPasswordContext(tenantId),
    field: 'bindPassword',
    sealed: stored?.bindPassword ?? null,
    target: stored ? ldapTarget(stored) : null,
  });

/** Where a bind password goes with these settings. */
export function ldapTarget(settings: HostSettings & Pick<StoredLdapConfig, 'bindDn'>): SecretTarget {
  const { host, port, isTls } = ldapAddress(settings.serverUrl);
  return {
    scheme: isTls ? 'ldaps' : 'ldap',
    host: host.toLowerCase(),
    port,
    account: settings.bindDn,
    encryption: isTls ? 'tls' : settings.startTls ? 'starttls' : 'none',
    verifiesCertificate: !settings.skipTlsVerify,
    authorities: settings.caCertificatePem,
  };
}

/** The stored directory server. Throws an LdapError if none of the configured keys opens the bind password. */
export const ldapServerOf = (ctx: SecretsOfTenant, stored: StoredLdapConfig): LdapServer =>
  ldapServerWith(ctx, stored, stored, undefined);

/**
 * The directory server of these settings, with the stored bind password unless the input has another one or null. Throws 400
 * `SECRET_REQUIRED` if that was stored for another server, and an LdapError if none of the configured keys opens it.
 */
export function ldapServerWith(
  ctx: SecretsOfTenant,
  stored: StoredLdapConfig | undefined,
  settings: HostSettings & Pick<StoredLdapConfig, 'bindDn'>,
  input: SecretInput,
): LdapServer {
  try {
    const bindPassword = storedBindPassword(ctx, stored).for(ldapTarget(settings), input);
    return { ...ldapHostOf(ctx, settings), bindDn: settings.bindDn, bindPassword };
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    ctx.log.error({ err: error, tenantId: ctx.tenantId }, 'the bind password of a directory cannot be read');
    throw new LdapError(
      'credentials',
      ldapAddress(settings.serverUrl),
      'was not asked, because the stored bind password can no longer be read. Please enter it again.',
    );
  }
}

type HostSettings = Pick<StoredLdapConfig, 'serverUrl' | 'startTls' | 'skipTlsVerify' | 'caCertificatePem'>;

const ldapHostOf = ({ config }: Pick<TenantContext, 'config'>, stored: HostSettings): LdapHost => ({
  url: stored.serverUrl,
  startTls: stored.startTls,
  skipTlsVerify: stored.skipTlsVerify,
  caCertificatePem: stored.caCertificatePem,
  policy: config.outbound.byAdmins,
});

/** Reads the directory host of the current tenant for sign-ins; no row while the directory is switched off. */
export const activeLdapHost = prepared<Record<string, never>>()('active_ldap_host', (db) =>
  db
    .select({
      url: ldapConfigs.serverUrl,
      startTls: ldapConfigs.startTls,
      skipTlsVerify: ldapConfigs.skipTlsVerify,
      caCertificatePem: ldapConfigs.caCertificatePem,
    })
    .from(ldapConfigs)
    .where(eq(ldapConfigs.isActive, true)),
);
