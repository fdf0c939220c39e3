import { eq } from 'drizzle-orm';
import { LdapFailure } from '@portal/connectors/ldap/failure';
import { ldapAddress, type LdapHost, type LdapServer } from '@portal/connectors/ldap/server';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { ldapConfigs } from '@portal/db/schema/directory';
import { conflict } from '@portal/domain/errors';
import { Secret } from '@portal/domain/secret';
import type { TenantCtx } from '../run/context.ts';
import { UnreadableSecret } from '../secrets/sealed.ts';

/** The row of the tenant at work, its password sealed; undefined while nothing is set. Row policies leave only one to be found. */
export const storedLdapConfig = async (db: Pick<Tx, 'select'>) => {
  const [row] = await db
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
  return row;
};

export type StoredLdapConfig = NonNullable<Awaited<ReturnType<typeof storedLdapConfig>>>;

/** The tenant's directory as it is set; throws 409 `DIRECTORY_NOT_CONFIGURED` when none is. */
export async function configuredDirectory(ctx: TenantCtx): Promise<StoredLdapConfig> {
  const stored = await ctx.read(storedLdapConfig);
  if (!stored)
    throw conflict('DIRECTORY_NOT_CONFIGURED', 'No directory is set up yet. Please enter its server and base first.');
  return stored;
}

/** Binds a sealed bind password to its place, so that it cannot be carried to another tenant's row. */
export const bindPasswordContext = (tenantId: string): string => `ldap_configs.bind_password:${tenantId}`;

/** How the directory is reached, the bind password opened. Throws an LdapFailure when no key here opens it. */
export const ldapServerOf = (ctx: SecretsOfTenant, stored: StoredLdapConfig): LdapServer => ({
  ...ldapHostOf(stored),
  bindDn: stored.bindDn,
  bindPassword: bindPasswordOf(ctx, stored),
});

type SecretsOfTenant = Pick<TenantCtx, 'tenantId' | 'secrets' | 'log'>;

/** The stored bind password. Throws an LdapFailure when no key here opens it. */
export function bindPasswordOf(
  { tenantId, secrets, log }: SecretsOfTenant,
  { bindPassword, serverUrl }: Pick<StoredLdapConfig, 'bindPassword' | 'serverUrl'>,
): Secret | null {
  if (bindPassword === null) return null;
  try {
    return new Secret(secrets.open(bindPassword, bindPasswordContext(tenantId)));
  } catch (error) {
    if (!(error instanceof UnreadableSecret)) throw error;
    log.error({ err: error, tenantId }, 'the bind password of a directory cannot be read');
    throw new LdapFailure(
      'credentials',
      ldapAddress(serverUrl),
      'was not asked, because the stored bind password cannot be read any more. Please enter it again.',
    );
  }
}

/** Where the directory is and how its certificate is checked. */
export const ldapHostOf = (
  stored: Pick<StoredLdapConfig, 'serverUrl' | 'startTls' | 'skipTlsVerify' | 'caCertificatePem'>,
): LdapHost => ({
  url: stored.serverUrl,
  startTls: stored.startTls,
  skipTlsVerify: stored.skipTlsVerify,
  caCertificatePem: stored.caCertificatePem,
});

/** The same of the tenant at work while its directory is switched on, for the sign-ins of its accounts. */
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
