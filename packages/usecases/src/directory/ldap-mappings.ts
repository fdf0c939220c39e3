import { and, asc, eq } from 'drizzle-orm';
import { conflictOn } from '@portal/db/database-error';
import type { Reader, Tx } from '@portal/db/open';
import { ldapMappings } from '@portal/db/schema/directory';
import { defaultMappings, type LdapMapping, type LdapMappingInput } from '@portal/domain/directory/config';
import { conflict, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { UserContext, TenantContext } from '@portal/platform/context';
import { recordAudit } from './audit.ts';

/** Far more than the five fields need. */
const maxMappings = 50;

const columns = {
  id: ldapMappings.id,
  ldapAttribute: ldapMappings.ldapAttribute,
  field: ldapMappings.field,
  isDefault: ldapMappings.isDefault,
};

const storedMappings = (db: Pick<Reader, 'select'>): Promise<LdapMapping[]> =>
  db
    .select(columns)
    .from(ldapMappings)
    .orderBy(asc(ldapMappings.isDefault), asc(ldapMappings.createdAt), asc(ldapMappings.id));

/** Lists the mappings, custom ones before the defaults. The first call creates the defaults. */
export async function listLdapMappings(ctx: TenantContext): Promise<LdapMapping[]> {
  const stored = await ctx.read(storedMappings);
  if (stored.length >= defaultMappings.length) return stored;
  return ctx.tx(async (tx) => {
    await addDefaultMappings(tx, ctx.tenantId);
    return storedMappings(tx);
  });
}

/** Creates the default mappings unless they exist; safe to call concurrently. */
export async function addDefaultMappings(tx: Tx, tenantId: string): Promise<void> {
  await tx
    .insert(ldapMappings)
    .values(defaultMappings.map((mapping) => ({ id: newId(), tenantId, isDefault: true, ...mapping })))
    .onConflictDoNothing();
}

/** Adds a mapping. Throws 409 `CONFLICT` if the attribute already fills this field, `LIMIT_REACHED` at 50 mappings. */
export async function addLdapMapping(ctx: UserContext, input: LdapMappingInput): Promise<LdapMapping> {
  const mapping = { id: newId(), ...input, isDefault: false };
  const adding = ctx.tx(async (tx) => {
    await addDefaultMappings(tx, ctx.tenantId);
    // Concurrent calls wait here, so that each counts the mappings of the others.
    await tx.select({ id: ldapMappings.id }).from(ldapMappings).where(eq(ldapMappings.isDefault, true)).for('update');
    if ((await tx.$count(ldapMappings)) >= maxMappings)
      throw conflict('LIMIT_REACHED', `There are ${maxMappings} mappings already. Please delete one first.`);
    await tx.insert(ldapMappings).values({ tenantId: ctx.tenantId, ...mapping });
    await recordAudit(tx, ctx, {
      action: 'ldap_mappings.create',
      tenantId: ctx.tenantId,
      summary: `Added the directory mapping ${input.ldapAttribute} to ${input.field}.`,
    });
  });
  await adding.catch(conflictOn({ ldap_mappings_unique: ['CONFLICT', 'This attribute already fills this field.'] }));
  return mapping;
}

/** Deletes a custom mapping. Throws 404, or 409 `CONFLICT` for a default. */
export async function deleteLdapMapping(ctx: UserContext, id: string): Promise<void> {
  await ctx.tx(async (tx) => {
    const [deleted] = await tx
      .delete(ldapMappings)
      .where(and(eq(ldapMappings.id, id), eq(ldapMappings.isDefault, false)))
      .returning(columns);
    if (!deleted) {
      const [existing] = await tx.select({ id: ldapMappings.id }).from(ldapMappings).where(eq(ldapMappings.id, id));
      throw existing ? conflict('CONFLICT', 'Default mappings cannot be deleted.') : notFound();
    }
    await recordAudit(tx, ctx, {
      action: 'ldap_mappings.delete',
      tenantId: ctx.tenantId,
      summary: `Deleted the directory mapping ${deleted.ldapAttribute} to ${deleted.field}.`,
    });
  });
}
