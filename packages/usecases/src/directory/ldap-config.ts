import { sql } from 'drizzle-orm';
import { isValidFilter } from '@portal/connectors/ldap/filter';
import { ldapConfigs } from '@portal/db/schema/directory';
import { type LdapConfig, LdapConfigInput } from '@portal/domain/directory/config';
import { invalidField } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { secretMask } from '@portal/domain/secret-input';
import type { UserContext } from '@portal/platform/context';
import { ReadableCaCertificatePem } from '@portal/platform/readable-certificates';
import { recordAudit } from './audit.ts';
import { addDefaultMappings } from './ldap-mappings.ts';
import { nextSyncAfterSaving } from './next-sync.ts';
import { ldapTarget, storedBindPassword, storedLdapConfig } from './stored-ldap-config.ts';

/** The input schema that also parses the CA certificates and refuses text that only looks like PEM. */
export const ReadableLdapConfigInput = LdapConfigInput.safeExtend({
  caCertificatePem: ReadableCaCertificatePem,
}).meta(LdapConfigInput.meta() ?? {});

const unset: LdapConfig = {
  serverUrl: null,
  startTls: null,
  baseDn: null,
  bindDn: null,
  bindPassword: null,
  userFilter: null,
  syncIntervalMin: null,
  isActive: null,
  includeDns: [],
  userExcludeList: [],
  skipTlsVerify: null,
  caCertificatePem: null,
};

/** The tenant's directory settings with a masked password; nulls and empty lists while nothing is set. */
export async function getLdapConfig(ctx: UserContext): Promise<LdapConfig> {
  const stored = await ctx.read(storedLdapConfig);
  return stored ? { ...stored, bindPassword: stored.bindPassword === null ? null : secretMask } : unset;
}

/**
 * Replaces the tenant's directory settings. Keeps the stored password unless the input has another one or null. Throws 400
 * `SECRET_REQUIRED` if the stored password would go to another server or account, or with less protection. The new interval and switch
 * apply to the next synchronization at once.
 */
export async function putLdapConfig(ctx: UserContext, input: LdapConfigInput): Promise<LdapConfig> {
  checkFilter(input);
  const { bindPassword, ...fields } = input;
  await ctx.tx(async (tx) => {
    const before = await storedLdapConfig(tx, 'update');
    const values = {
      ...fields,
      // Also writes the kept password, so that this server never gets the password of a concurrent change.
      bindPassword: storedBindPassword(ctx, before).sealedFor(ldapTarget(fields), bindPassword),
      nextSyncAt: nextSyncAfterSaving(fields),
      updatedAt: sql`now()`,
    };
    await tx
      .insert(ldapConfigs)
      .values({ id: newId(), tenantId: ctx.tenantId, ...values })
      .onConflictDoUpdate({ target: ldapConfigs.tenantId, set: values });
    await addDefaultMappings(tx, ctx.tenantId);
    const hasMoved = before !== undefined && before.serverUrl !== fields.serverUrl;
    await recordAudit(tx, ctx, {
      action: 'ldap_config.update',
      tenantId: ctx.tenantId,
      summary: `Changed the directory settings: server ${fields.serverUrl}${hasMoved ? `, before ${before.serverUrl}` : ''}, ${
        fields.isActive ? 'switched on' : 'switched off'
      }.`,
    });
  });
  return getLdapConfig(ctx);
}

/** Throws 400 for an invalid LDAP filter. */
export function checkFilter({ userFilter }: Pick<LdapConfigInput, 'userFilter'>): void {
  if (userFilter !== null && !isValidFilter(userFilter))
    throw invalidField('userFilter', 'must be an LDAP filter such as (objectClass=person)');
}

/** Deletes the tenant's directory settings with the password. Imported accounts stay but can no longer sign in. */
export async function deleteLdapConfig(ctx: UserContext): Promise<void> {
  await ctx.tx(async (tx) => {
    const deleted = await tx.delete(ldapConfigs).returning({ id: ldapConfigs.id });
    if (deleted.length === 0) return;
    await recordAudit(tx, ctx, {
      action: 'ldap_config.delete',
      tenantId: ctx.tenantId,
      summary: 'Deleted the directory settings.',
    });
  });
}
