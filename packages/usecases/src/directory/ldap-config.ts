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

/** The input schema, with its CA certificates parsed: text that only looks like PEM is refused. */
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

/** The tenant's directory with its password masked; nulls and empty lists while nothing is set. */
export async function getLdapConfig(ctx: UserContext): Promise<LdapConfig> {
  const stored = await ctx.read(storedLdapConfig);
  return stored ? { ...stored, bindPassword: stored.bindPassword === null ? null : secretMask } : unset;
}

/**
 * Replaces the tenant's directory; the stored password stays unless another one or null is given. Throws 400 `SECRET_REQUIRED` where it
 * would go to another server or account, or less well protected. The next synchronization follows the new interval and switch at once.
 */
export async function putLdapConfig(ctx: UserContext, input: LdapConfigInput): Promise<LdapConfig> {
  checkFilter(input);
  const { bindPassword, ...fields } = input;
  await ctx.tx(async (tx) => {
    const before = await storedLdapConfig(tx, 'update');
    const values = {
      ...fields,
      // The kept one is written too: a server from here and a password from a change in between must not meet.
      bindPassword: storedBindPassword(ctx, before).sealedFor(ldapTarget(fields), bindPassword),
      nextSyncAt: nextSyncAfterSaving(fields),
      updatedAt: sql`now()`,
    };
    await tx
      .insert(ldapConfigs)
      .values({ id: newId(), tenantId: ctx.tenantId, ...values })
      .onConflictDoUpdate({ target: ldapConfigs.tenantId, set: values });
    await addDefaultMappings(tx, ctx.tenantId);
    const moved = before !== undefined && before.serverUrl !== fields.serverUrl;
    await recordAudit(tx, ctx, {
      action: 'ldap_config.update',
      tenantId: ctx.tenantId,
      summary: `Changed the directory settings: server ${fields.serverUrl}${moved ? `, before ${before.serverUrl}` : ''}, ${
        fields.isActive ? 'switched on' : 'switched off'
      }.`,
    });
  });
  return getLdapConfig(ctx);
}

/** Throws 400 for a filter no directory would understand. */
export function checkFilter({ userFilter }: Pick<LdapConfigInput, 'userFilter'>): void {
  if (userFilter !== null && !isValidFilter(userFilter))
    throw invalidField('userFilter', 'must be an LDAP filter such as (objectClass=person)');
}

/** Forgets the tenant's directory, the password with it. The accounts it brought stay and can no longer sign in. */
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
