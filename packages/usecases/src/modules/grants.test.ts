import { describe, expect, it } from 'vitest';
import { groups, moduleGrants } from '@portal/db/schema/modules';
import { newId } from '@portal/domain/ids';
import type { GrantTarget } from '@portal/domain/modules/grants';
import { type GrantLevel, modules } from '@portal/domain/modules/modules';
import type { UserContext } from '@portal/platform/context';
import { testRuntime } from '@portal/testing/runtime';
import { deleteUser } from '../accounts/users.ts';
import { listAuditEntries } from '../audit/list-audit-entries.ts';
import { deleteGrant, grantMatrix, setGrant } from './grants.ts';
import { createGroup, deleteGroup, setGroupMembers } from './groups.ts';
import { moduleLevels } from './module-access.ts';
import { setModuleEnabled } from './modules.ts';

const { make, signedIn } = await testRuntime();
const notFound = { kind: 'not_found', code: 'NOT_FOUND' };

/** An administrator and a plain user of one tenant. */
async function tenant(): Promise<{ admin: UserContext; user: UserContext }> {
  const admin = await signedIn(await make.user({ role: 'ADMIN' }));
  return { admin, user: await signedIn(await make.user({ tenantId: admin.tenantId })) };
}
const toUser = (ctx: UserContext, moduleKey = 'calendar'): GrantTarget => ({
  subjectType: 'user',
  subjectId: ctx.actor.id,
  moduleKey,
});
const toGroup = (subjectId: string, moduleKey = 'calendar'): GrantTarget => ({
  subjectType: 'group',
  subjectId,
  moduleKey,
});
const levelOf = async (ctx: UserContext): Promise<GrantLevel | undefined> => (await moduleLevels(ctx)).get('calendar');

describe('the level of an account', () => {
  it('is that of its own grant, from the next request on', async () => {
    const { admin, user } = await tenant();
    expect([...(await moduleLevels(user))]).toEqual([]);
    expect(await setGrant(admin, { ...toUser(user), level: 'USE' })).toEqual({ ...toUser(user), level: 'USE' });
    expect([...(await moduleLevels(user))]).toEqual([['calendar', 'USE']]);
    await setGrant(admin, { ...toUser(user), level: 'MANAGE' });
    expect(await levelOf(user)).toBe('MANAGE');
    await setGrant(admin, { ...toUser(user), level: 'USE' });
    expect(await levelOf(user)).toBe('USE');
    await deleteGrant(admin, toUser(user));
    expect(await levelOf(user)).toBeUndefined();
  });

  it('is the highest of its own grant and those of its groups', async () => {
    const { admin, user } = await tenant();
    const [one, two] = [
      await createGroup(admin, { internalName: 'Eins' }),
      await createGroup(admin, { internalName: 'Zwei' }),
    ];
    for (const { id } of [one, two]) await setGroupMembers(admin, id, [user.actor.id]);
    await setGrant(admin, { ...toGroup(one.id), level: 'USE' });
    expect(await levelOf(user)).toBe('USE');
    await setGrant(admin, { ...toGroup(two.id), level: 'MANAGE' });
    expect(await levelOf(user)).toBe('MANAGE');
    await setGrant(admin, { ...toUser(user), level: 'USE' });
    expect(await levelOf(user)).toBe('MANAGE');
    await setGroupMembers(admin, two.id, []);
    expect(await levelOf(user)).toBe('USE');
    await deleteGroup(admin, one.id);
    expect(await levelOf(user)).toBe('USE');
    await deleteGrant(admin, toUser(user));
    expect(await levelOf(user)).toBeUndefined();
    await setGroupMembers(admin, two.id, [user.actor.id]);
    expect(await levelOf(user)).toBe('MANAGE');
    await deleteGroup(admin, two.id);
    expect(await levelOf(user)).toBeUndefined();
  });

  it('is MANAGE on every module for administrators, and none on a module that is off', async () => {
    const { admin, user } = await tenant();
    await setGrant(admin, { ...toUser(user), level: 'MANAGE' });
    expect([...(await moduleLevels(admin))]).toEqual(modules.map(({ key }) => [key, 'MANAGE']));
    await setModuleEnabled(admin, 'calendar', false);
    expect(await levelOf(admin)).toBeUndefined();
    expect(await levelOf(user)).toBeUndefined();
    await setModuleEnabled(admin, 'calendar', true);
    expect(await levelOf(user)).toBe('MANAGE');
  });

  it('does not depend on another tenant: not on its grants, its switches or a group of the same name', async () => {
    const [ours, theirs] = [await tenant(), await tenant()];
    await setGrant(theirs.admin, { ...toUser(theirs.user), level: 'MANAGE' });
    await setModuleEnabled(theirs.admin, 'calendar', false);
    expect(await levelOf(ours.user)).toBeUndefined();
    expect(await levelOf(ours.admin)).toBe('MANAGE');
  });
});

describe('a grant', () => {
  it('is created once by concurrent calls, and audited only if it changes something', async () => {
    const { admin, user } = await tenant();
    await Promise.all(Array.from({ length: 20 }, () => setGrant(admin, { ...toUser(user), level: 'MANAGE' })));
    expect(await admin.read((db) => db.$count(moduleGrants))).toBe(1);
    await deleteGrant(admin, toUser(user));
    const { items } = await listAuditEntries(admin, { limit: 10 });
    expect(items.map(({ action, targetId, summary }) => ({ action, targetId, summary }))).toEqual([
      {
        action: 'module_grants.delete',
        targetId: user.actor.id,
        summary: `Revoked the module Calendar from the user ${user.actor.username}.`,
      },
      {
        action: 'module_grants.set',
        targetId: user.actor.id,
        summary: `Granted the module Calendar to the user ${user.actor.username} at level MANAGE.`,
      },
    ]);
  });

  it('that is changed is audited with the level before', async () => {
    const { admin, user } = await tenant();
    await setGrant(admin, { ...toUser(user), level: 'MANAGE' });
    await setGrant(admin, { ...toUser(user), level: 'USE' });
    const { items } = await listAuditEntries(admin, { limit: 1 });
    expect(items[0]?.summary).toMatch(/ at level USE, previously MANAGE\.$/);
  });

  it('is 404 if it is unknown, of another tenant or not granted', async () => {
    const [{ admin, user }, theirs] = [await tenant(), await tenant()];
    const theirGroup = await createGroup(theirs.admin, { internalName: 'Fremde' });
    const ourGroup = await createGroup(admin, { internalName: 'Unsere' });
    for (const target of [
      toUser(theirs.user),
      toGroup(theirGroup.id),
      { ...toUser(user), subjectId: newId() },
      toGroup(newId()),
      toGroup(user.actor.id),
      { ...toUser(user), subjectId: ourGroup.id },
      toUser(user, 'sport'),
      toUser(user, '__proto__'),
    ]) {
      await expect(setGrant(admin, { ...target, level: 'USE' })).rejects.toMatchObject(notFound);
      await expect(deleteGrant(admin, target)).rejects.toMatchObject(notFound);
    }
    await expect(deleteGrant(admin, toUser(user))).rejects.toMatchObject(notFound);
    expect(await admin.read((db) => db.$count(moduleGrants))).toBe(0);
  });

  it('is deleted with its subject', async () => {
    const { admin, user } = await tenant();
    const group = await createGroup(admin, { internalName: 'Kurz' });
    await setGrant(admin, { ...toUser(user), level: 'USE' });
    await setGrant(admin, { ...toGroup(group.id), level: 'USE' });
    await deleteUser(admin, user.actor.id);
    await deleteGroup(admin, group.id);
    expect(await admin.read((db) => db.$count(moduleGrants))).toBe(0);
  });
});

describe('the matrix', () => {
  it('shows all groups and the accounts with grants, each with its levels', async () => {
    const { admin, user } = await tenant();
    const plain = await createGroup(admin, { internalName: 'Leer' });
    const directory = newId();
    await admin.tx((tx) =>
      tx.insert(groups).values({
        id: directory,
        tenantId: admin.tenantId,
        internalName: 'Abteilung',
        directoryId: 'from the directory',
      }),
    );
    await setGrant(admin, { ...toGroup(directory), level: 'USE' });
    await setGrant(admin, { ...toGroup(directory, 'cloud-status'), level: 'MANAGE' });
    await setGrant(admin, { ...toUser(user, 'tender-radar'), level: 'USE' });
    await setModuleEnabled(admin, 'calendar', false);
    const matrix = await grantMatrix(admin);
    expect(matrix.subjects).toEqual([
      { type: 'group', id: directory, name: 'Abteilung', grants: { calendar: 'USE', 'cloud-status': 'MANAGE' } },
      { type: 'group', id: plain.id, name: 'Leer', grants: {} },
      { type: 'user', id: user.actor.id, name: user.actor.username, grants: { 'tender-radar': 'USE' } },
    ]);
    expect(matrix.modules.map(({ key, enabled }) => [key, enabled])).toEqual(
      modules.map(({ key }) => [key, key !== 'calendar']),
    );
  });
});
