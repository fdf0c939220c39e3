import { describe, expect, it } from 'vitest';
import { customModules } from '@portal/db/schema/modules';
import { newId } from '@portal/domain/ids';
import { type CustomModule, customModuleLimits, type NewCustomModule } from '@portal/domain/modules/custom-modules';
import type { UserContext } from '@portal/platform/context';
import { testRuntime } from '@portal/testing/runtime';
import { deleteUser } from '../accounts/users.ts';
import { listAuditEntries } from '../audit/list-audit-entries.ts';
import { listActiveModules } from './active-modules.ts';
import { assignModule, renameCategory, setCategoryOrder } from './categories.ts';
import { createCustomModule, deleteCustomModule, listCustomModules, updateCustomModule } from './custom-modules.ts';
import { setGrant } from './grants.ts';
import { setModuleEnabled } from './modules.ts';

const { make, signedIn } = await testRuntime();
const notFound = { kind: 'not_found', code: 'NOT_FOUND' };

async function tenant(): Promise<{ admin: UserContext; user: UserContext; other: UserContext }> {
  const admin = await signedIn(await make.user({ role: 'ADMIN' }));
  const [user, other] = [
    await signedIn(await make.user({ tenantId: admin.tenantId })),
    await signedIn(await make.user({ tenantId: admin.tenantId })),
  ];
  return { admin, user, other };
}
const fields = (overrides: Partial<NewCustomModule> = {}): NewCustomModule => ({
  name: 'Wiki',
  url: 'https://wiki.example.org/',
  category: 'custom-modules',
  shared: false,
  sortOrder: 0,
  ...overrides,
});
const namesOf = (list: CustomModule[]): string[] => list.map(({ name }) => name);

describe('a custom module', () => {
  it('is visible only to its owner, a shared one to the tenant', async () => {
    const { admin, user, other } = await tenant();
    const own = await createCustomModule(user, fields({ name: 'Eigenes', sortOrder: 5 }));
    const shared = await createCustomModule(admin, fields({ name: 'Gemeinsam', shared: true }));
    expect(own).toEqual({
      id: own.id,
      name: 'Eigenes',
      url: 'https://wiki.example.org/',
      category: 'custom-modules',
      ownerUserId: user.actor.id,
      sortOrder: 5,
    });
    expect(shared.ownerUserId).toBeNull();
    expect(namesOf(await listCustomModules(user))).toEqual(['Gemeinsam', 'Eigenes']);
    expect(namesOf(await listCustomModules(other))).toEqual(['Gemeinsam']);
    expect(namesOf(await listCustomModules(admin))).toEqual(['Gemeinsam']);
    expect(namesOf(await listCustomModules((await tenant()).admin))).toEqual([]);
  });

  it('can be shared only by administrators', async () => {
    const { user } = await tenant();
    await expect(createCustomModule(user, fields({ shared: true }))).rejects.toMatchObject({ kind: 'forbidden' });
  });

  it('can be changed and deleted by its owner, a shared one by administrators', async () => {
    const { admin, user, other } = await tenant();
    const own = await createCustomModule(user, fields());
    const shared = await createCustomModule(admin, fields({ shared: true }));
    expect(await updateCustomModule(user, own.id, { name: 'Neu', category: 'tools', sortOrder: -3 })).toEqual({
      ...own,
      name: 'Neu',
      category: 'tools',
      sortOrder: -3,
    });
    expect(await updateCustomModule(admin, shared.id, { url: 'https://example.org' })).toMatchObject({
      url: 'https://example.org',
      name: 'Wiki',
    });
    for (const ctx of [admin, other, (await tenant()).admin]) {
      await expect(updateCustomModule(ctx, own.id, { name: 'Fremd' })).rejects.toMatchObject(notFound);
      await expect(deleteCustomModule(ctx, own.id)).rejects.toMatchObject(notFound);
    }
    await expect(updateCustomModule(user, shared.id, { name: 'Fremd' })).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(deleteCustomModule(user, shared.id)).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(deleteCustomModule((await tenant()).admin, shared.id)).rejects.toMatchObject(notFound);
    await deleteCustomModule(user, own.id);
    await deleteCustomModule(admin, shared.id);
    expect(await listCustomModules(user)).toEqual([]);
    const { items } = await listAuditEntries(admin, { limit: 10 });
    expect(items.map(({ action }) => action)).toEqual([
      'custom_modules.delete',
      'custom_modules.update',
      'custom_modules.create',
    ]);
  });

  it('needs an existing category', async () => {
    const { user } = await tenant();
    const refused = { kind: 'invalid', details: [{ path: 'category', message: expect.any(String) }] };
    await expect(createCustomModule(user, fields({ category: 'sport' }))).rejects.toMatchObject(refused);
    const own = await createCustomModule(user, fields());
    await expect(updateCustomModule(user, own.id, { category: 'sport' })).rejects.toMatchObject(refused);
  });

  it('is limited to a hundred private ones, also with concurrent calls; shared ones have a separate limit', async () => {
    const { admin } = await tenant();
    const rows = (count: number, ownerUserId: string | null, categoryId: string) =>
      Array.from({ length: count }, () => ({
        id: newId(),
        tenantId: admin.tenantId,
        ownerUserId,
        name: 'Wiki',
        url: 'https://wiki.example.org/',
        categoryId,
      }));
    await createCustomModule(admin, fields());
    const [first] = await admin.read((db) => db.select({ categoryId: customModules.categoryId }).from(customModules));
    const categoryId = first?.categoryId ?? '';
    await admin.tx((tx) =>
      tx
        .insert(customModules)
        .values([
          ...rows(customModuleLimits.personal - 4, admin.actor.id, categoryId),
          ...rows(customModuleLimits.shared - 3, null, categoryId),
        ]),
    );
    for (const shared of [false, true]) {
      const results = await Promise.allSettled(
        Array.from({ length: 10 }, () => createCustomModule(admin, fields({ shared }))),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
      for (const result of results)
        if (result.status === 'rejected')
          expect(result.reason).toMatchObject({ kind: 'conflict', code: 'LIMIT_REACHED' });
    }
  });

  it('is deleted with its owner; a shared one stays when its creator is deleted', async () => {
    const { admin, user } = await tenant();
    const maker = await signedIn(await make.user({ tenantId: admin.tenantId, role: 'ADMIN' }));
    await createCustomModule(maker, fields({ name: 'Bleibt', shared: true }));
    await createCustomModule(user, fields());
    await deleteUser(admin, maker.actor.id);
    await deleteUser(admin, user.actor.id);
    const rows = await admin.read((db) => db.select({ name: customModules.name }).from(customModules));
    expect(rows).toEqual([{ name: 'Bleibt' }]);
  });
});

describe('the sidebar', () => {
  it('lists the modules the caller may open, by category, built-in ones first, custom ones by sort order and name', async () => {
    const { admin, user } = await tenant();
    const [late, early, own] = [
      await createCustomModule(admin, fields({ name: 'alpha', category: 'tools', shared: true, sortOrder: 2 })),
      await createCustomModule(admin, fields({ name: 'Zebra', category: 'tools', shared: true, sortOrder: 1 })),
      await createCustomModule(user, fields({ name: 'Beta', category: 'tools', sortOrder: 2 })),
    ];
    await createCustomModule(admin, fields({ name: 'Nur für mich' }));
    await setGrant(admin, { subjectType: 'user', subjectId: user.actor.id, moduleKey: 'calendar', level: 'USE' });
    await setGrant(admin, {
      subjectType: 'user',
      subjectId: user.actor.id,
      moduleKey: 'virtualization',
      level: 'MANAGE',
    });
    await setGrant(admin, { subjectType: 'user', subjectId: user.actor.id, moduleKey: 'tender-radar', level: 'USE' });
    await setModuleEnabled(admin, 'tender-radar', false);
    await setCategoryOrder(admin, ['tools', 'infrastructure', 'accounting', 'sales']);
    await renameCategory(admin, 'tools', { name: 'Werkzeug' });
    const tools = { category: 'tools', categoryName: 'Werkzeug' };
    const custom = { kind: 'custom', url: 'https://wiki.example.org/', ...tools };
    expect(await listActiveModules(user)).toEqual([
      { key: 'calendar', name: 'Calendar', kind: 'builtin', ...tools, level: 'USE', canManage: false },
      { key: `custom:${early.id}`, name: 'Zebra', ...custom, level: 'USE', canManage: false },
      { key: `custom:${late.id}`, name: 'alpha', ...custom, level: 'USE', canManage: false },
      { key: `custom:${own.id}`, name: 'Beta', ...custom, level: 'MANAGE', canManage: true },
      {
        key: 'virtualization',
        name: 'Virtualization',
        kind: 'builtin',
        category: 'infrastructure',
        categoryName: 'Infrastructure',
        level: 'MANAGE',
        canManage: true,
      },
    ]);
    await assignModule(admin, { moduleKey: 'calendar', categoryKey: 'infrastructure' });
    expect((await listActiveModules(user)).map(({ key }) => key)).toEqual([
      `custom:${early.id}`,
      `custom:${late.id}`,
      `custom:${own.id}`,
      'virtualization',
      'calendar',
    ]);
    expect((await listActiveModules(admin)).map(({ name, level }) => `${name} ${level}`)).toEqual([
      'Zebra MANAGE',
      'alpha MANAGE',
      'Virtualization MANAGE',
      'Cloud status MANAGE',
      'Certificate manager MANAGE',
      'Calendar MANAGE',
      'Canteen billing MANAGE',
      'Merchandise export MANAGE',
      'Invoice mailbox MANAGE',
      'Nur für mich MANAGE',
    ]);
  });

  it('of a new tenant is empty for a plain user, and complete for an administrator', async () => {
    expect(await listActiveModules((await tenant()).user)).toEqual([]);
    expect(await listActiveModules((await tenant()).admin)).toHaveLength(8);
  });
});
