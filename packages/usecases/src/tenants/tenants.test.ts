import { eq, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { tenants } from '@portal/db/schema/tenants';
import { newId } from '@portal/domain/ids';
import { waitingForLocks } from '@portal/testing/locks';
import { testRuntime } from '@portal/testing/runtime';
import { updateUser } from '../accounts/update-user.ts';
import { createUser } from '../accounts/users.ts';
import { listAuditEntries } from '../audit/list-audit-entries.ts';
import { createTenant, deleteTenant, getTenant, listTenants, updateTenant } from './tenants.ts';

const { make, runtime, signedIn } = await testRuntime();
const superAdmin = async () => signedIn(await make.user({ role: 'SUPER_ADMIN' }));

describe('tenants', () => {
  it('are created, counted, renamed and deleted with their data', async () => {
    const ctx = await superAdmin();
    const tenant = await createTenant(ctx, { name: `Werke ${newId()}`, isActive: true });
    expect(tenant).toMatchObject({ isActive: true, userCount: 0 });
    const user = await make.user({ tenantId: tenant.id, isActive: false });
    await make.session(user);
    expect(await getTenant(ctx, tenant.id)).toMatchObject({ userCount: 1 });
    expect((await listTenants(ctx)).find(({ id }) => id === tenant.id)).toMatchObject({ userCount: 1 });
    expect(await updateTenant(ctx, tenant.id, { name: `Neue ${tenant.name}`, isActive: false })).toMatchObject({
      isActive: false,
    });
    const { tenantId: another } = await make.user();
    await deleteTenant(ctx, tenant.id);
    expect(await getTenant(ctx, another)).toMatchObject({ userCount: 1 });
    await expect(getTenant(ctx, tenant.id)).rejects.toMatchObject({ kind: 'not_found' });
    const { items } = await listAuditEntries(ctx, { limit: 10, actorId: ctx.actor.id });
    expect(items.map(({ action }) => action)).toEqual(['tenants.delete', 'tenants.update', 'tenants.create']);
    expect(items[0]).toMatchObject({ targetId: tenant.id, summary: `Deleted the tenant Neue ${tenant.name}.` });
    expect(items[1]?.summary).toBe(`Changed the tenant ${tenant.name}: renamed to Neue ${tenant.name}, deactivated.`);
  });

  it('have unique names regardless of case', async () => {
    const ctx = await superAdmin();
    const name = `Gemeinde Ö ${newId()}`;
    await createTenant(ctx, { name, isActive: true });
    await expect(createTenant(ctx, { name: name.toUpperCase(), isActive: true })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'TENANT_NAME_TAKEN',
    });
    const other = await createTenant(ctx, { name: `${name} 2`, isActive: true });
    await expect(updateTenant(ctx, other.id, { name })).rejects.toMatchObject({ code: 'TENANT_NAME_TAKEN' });
    expect(await updateTenant(ctx, other.id, { name: `${name} 2`.toUpperCase() })).toMatchObject({ id: other.id });
  });

  it('keep both of two concurrent changes', async () => {
    const ctx = await superAdmin();
    const { id } = await createTenant(ctx, { name: newId(), isActive: true });
    const name = newId();
    const changes: Promise<unknown>[] = [];
    await ctx.acrossTenants('a test holds a tenant', async (tx) => {
      await tx.select().from(tenants).where(eq(tenants.id, id)).for('update');
      changes.push(updateTenant(ctx, id, { isActive: false }), updateTenant(ctx, id, { name }));
      await expect.poll(() => waitingForLocks(runtime.database)).toBe(2);
    });
    await Promise.all(changes);
    expect(await getTenant(ctx, id)).toMatchObject({ name, isActive: false });
  });

  it('are not deleted while an account is active, nor deactivated from within', async () => {
    const ctx = await superAdmin();
    const { tenantId } = await make.user();
    await expect(deleteTenant(ctx, tenantId)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'TENANT_HAS_ACTIVE_USERS',
    });
    await expect(updateTenant(ctx, ctx.tenantId, { isActive: false })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'OWN_TENANT',
    });
    await expect(updateTenant(ctx, newId(), { isActive: false })).rejects.toMatchObject({ kind: 'not_found' });
    await expect(deleteTenant(ctx, newId())).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('with many accounts are deleted in portions, and lose no account if one of them is active', async () => {
    const ctx = await superAdmin();
    const tenant = await createTenant(ctx, { name: `Viele ${newId()}`, isActive: true });
    const { id: activeId } = await make.user({ tenantId: tenant.id });
    await ctx.acrossTenants('a test makes accounts', (tx) =>
      tx.execute(sql`insert into users (id, tenant_id, username, role, is_active)
        select gen_random_uuid(), ${tenant.id}, ${tenant.id} || n, 'USER', false from generate_series(1, 1100) n`),
    );
    await expect(deleteTenant(ctx, tenant.id)).rejects.toMatchObject({ code: 'TENANT_HAS_ACTIVE_USERS' });
    expect(await getTenant(ctx, tenant.id)).toMatchObject({ userCount: 1_101, isActive: true });
    await updateUser(ctx, activeId, { isActive: false });
    await deleteTenant(ctx, tenant.id);
    await expect(getTenant(ctx, tenant.id)).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('do not lose an account that is created during the deletion', async () => {
    const ctx = await superAdmin();
    for (let round = 0; round < 20; round += 1) {
      const tenant = await createTenant(ctx, { name: `Rasch ${newId()}`, isActive: true });
      const [deleted, created] = await Promise.allSettled([
        deleteTenant(ctx, tenant.id),
        createUser(ctx, { username: `rasch-${newId()}`, role: 'USER', isActive: true, tenantId: tenant.id }),
      ]);
      expect([deleted.status, created.status].filter((status) => status === 'fulfilled')).toHaveLength(1);
    }
  });
});

describe('the audit log', () => {
  it('shows an ADMIN their own tenant, a SUPER_ADMIN everything, in pages that never overlap', async () => {
    const boss = await superAdmin();
    const tenant = await createTenant(boss, { name: `Log ${newId()}`, isActive: true });
    const admin = await signedIn(await make.user({ tenantId: tenant.id, role: 'ADMIN' }));
    for (let n = 0; n < 5; n += 1)
      await createUser(admin, { username: `log-${newId()}`, role: 'USER', isActive: true });
    const own = await listAuditEntries(admin, { limit: 100 });
    expect(own.items).toHaveLength(6);
    const pages: string[] = [];
    let after: string | undefined;
    do {
      const page = await listAuditEntries(admin, { limit: 2, after });
      pages.push(...page.items.map(({ id }) => id));
      after = page.next ?? undefined;
    } while (after);
    expect(pages).toEqual(own.items.map(({ id }) => id));
    expect((await listAuditEntries(admin, { limit: 10, action: 'tenants.create' })).items).toMatchObject([
      { actorId: boss.actor.id, targetId: tenant.id },
    ]);
    expect((await listAuditEntries(admin, { limit: 10, from: new Date(Date.now() + 60_000) })).items).toEqual([]);
    expect((await listAuditEntries(boss, { limit: 10, actorId: admin.actor.id })).items).toHaveLength(5);
  });
});
