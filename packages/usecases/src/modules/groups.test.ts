import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { groupMembers, groups } from '@portal/db/schema/modules';
import { newId } from '@portal/domain/ids';
import { groupLimit } from '@portal/domain/modules/groups';
import type { UserContext } from '@portal/platform/context';
import { testRuntime } from '@portal/testing/runtime';
import { deleteUser } from '../accounts/users.ts';
import { listAuditEntries } from '../audit/list-audit-entries.ts';
import { createGroup, deleteGroup, listGroupMembers, listGroups, renameGroup, setGroupMembers } from './groups.ts';

const { make, signedIn } = await testRuntime();
const admin = async (): Promise<UserContext> => signedIn(await make.user({ role: 'ADMIN' }));
const notFound = { kind: 'not_found', code: 'NOT_FOUND' };

async function directoryGroup(ctx: UserContext, internalName: string): Promise<string> {
  const id = newId();
  await ctx.tx((tx) => tx.insert(groups).values({ id, tenantId: ctx.tenantId, internalName, directoryId: newId() }));
  return id;
}

describe('groups', () => {
  it('are created, listed by name with their members counted, renamed and deleted', async () => {
    const ctx = await admin();
    const sales = await createGroup(ctx, { internalName: 'Vertrieb' });
    const books = await createGroup(ctx, { internalName: 'buchhaltung' });
    const people = [ctx.actor, await make.user({ tenantId: ctx.tenantId })];
    await setGroupMembers(
      ctx,
      sales.id,
      people.map(({ id }) => id),
    );
    expect(await listGroups(ctx)).toEqual([
      { id: books.id, internalName: 'buchhaltung', source: 'local', memberCount: 0 },
      { id: sales.id, internalName: 'Vertrieb', source: 'local', memberCount: 2 },
    ]);
    expect(await listGroups(ctx, { memberId: ctx.actor.id })).toMatchObject([{ id: sales.id, memberCount: 2 }]);
    expect(await listGroups(await admin(), { memberId: ctx.actor.id })).toEqual([]);
    expect(await renameGroup(ctx, sales.id, { internalName: 'Außendienst' })).toMatchObject({ memberCount: 2 });
    await deleteGroup(ctx, sales.id);
    expect(await listGroups(ctx)).toMatchObject([{ id: books.id }]);
    expect(
      (await listAuditEntries(ctx, { limit: 10 })).items.map(({ action, targetType }) => `${action} ${targetType}`),
    ).toEqual([
      'groups.delete group',
      'groups.update group',
      'groups.members group',
      'groups.create group',
      'groups.create group',
    ]);
  });

  it('have unique names regardless of case, also with fifty concurrent calls; another tenant may use the same name', async () => {
    const ctx = await admin();
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) => createGroup(ctx, { internalName: n % 2 === 0 ? 'Küche' : 'KÜCHE' })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ kind: 'conflict', code: 'GROUP_NAME_TAKEN' });
    }
    const other = await createGroup(ctx, { internalName: 'Lager' });
    await expect(renameGroup(ctx, other.id, { internalName: 'küche' })).rejects.toMatchObject({
      code: 'GROUP_NAME_TAKEN',
    });
    expect(await renameGroup(ctx, other.id, { internalName: 'LAGER' })).toMatchObject({ internalName: 'LAGER' });
    expect(await createGroup(await admin(), { internalName: 'Küche' })).toMatchObject({ memberCount: 0 });
  });

  it('of the directory are read-only, and may have the name of one of the tenant’s own groups', async () => {
    const ctx = await admin();
    const id = await directoryGroup(ctx, 'Alle');
    await createGroup(ctx, { internalName: 'Alle' });
    expect((await listGroups(ctx)).map(({ source }) => source).toSorted()).toEqual(['directory', 'local']);
    const refused = { kind: 'conflict', code: 'DIRECTORY_GROUP' };
    await expect(renameGroup(ctx, id, { internalName: 'Andere' })).rejects.toMatchObject(refused);
    await expect(setGroupMembers(ctx, id, [])).rejects.toMatchObject(refused);
    await expect(deleteGroup(ctx, id)).rejects.toMatchObject(refused);
    expect(await listGroupMembers(ctx, id)).toEqual([]);
  });

  it('are limited, not counting those of the directory, also with two concurrent calls', async () => {
    const ctx = await admin();
    await directoryGroup(ctx, 'Alle');
    await ctx.tx((tx) =>
      tx.insert(groups).values(
        Array.from({ length: groupLimit - 1 }, (_, n) => ({
          id: newId(),
          tenantId: ctx.tenantId,
          internalName: `Gruppe ${n}`,
        })),
      ),
    );
    const results = await Promise.allSettled(
      ['eine', 'noch eine'].map((internalName) => createGroup(ctx, { internalName })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(createGroup(ctx, { internalName: 'zu viel' })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
  });

  it('of another tenant are 404', async () => {
    const ctx = await admin();
    const foreign = await createGroup(await admin(), { internalName: 'Fremde' });
    await expect(renameGroup(ctx, foreign.id, { internalName: 'Unsere' })).rejects.toMatchObject(notFound);
    await expect(deleteGroup(ctx, foreign.id)).rejects.toMatchObject(notFound);
    await expect(listGroupMembers(ctx, foreign.id)).rejects.toMatchObject(notFound);
    await expect(setGroupMembers(ctx, foreign.id, [])).rejects.toMatchObject(notFound);
  });
});

describe('the members of a group', () => {
  it('are replaced by the list, each once', async () => {
    const ctx = await admin();
    const { id } = await createGroup(ctx, { internalName: 'Schicht' });
    const [a, b, c] = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        make.user({ tenantId: ctx.tenantId, username: `${name}-${newId()}`, displayName: name.toUpperCase() }),
      ),
    );
    if (!a || !b || !c) throw new Error('three accounts were made');
    await setGroupMembers(ctx, id, [b.id, a.id, b.id]);
    expect(await listGroupMembers(ctx, id)).toEqual([
      { id: a.id, username: a.username, displayName: 'A' },
      { id: b.id, username: b.username, displayName: 'B' },
    ]);
    expect((await setGroupMembers(ctx, id, [c.id, b.id])).map(({ displayName }) => displayName)).toEqual(['B', 'C']);
    const [entry] = (await listAuditEntries(ctx, { limit: 1 })).items;
    expect(entry).toMatchObject({ summary: 'Changed the members of the group Schicht: 1 joined, 1 left.' });
    await deleteUser(ctx, b.id);
    expect(await listGroupMembers(ctx, id)).toHaveLength(1);
    expect(await setGroupMembers(ctx, id, [])).toEqual([]);
  });

  it('do not change if one of the list is unknown or of another tenant', async () => {
    const ctx = await admin();
    const { id } = await createGroup(ctx, { internalName: 'Fest' });
    await setGroupMembers(ctx, id, [ctx.actor.id]);
    const stranger = await make.user();
    for (const unknown of [stranger.id, newId()]) {
      await expect(setGroupMembers(ctx, id, [ctx.actor.id, unknown])).rejects.toMatchObject(notFound);
    }
    expect(await listGroupMembers(ctx, id)).toMatchObject([{ id: ctx.actor.id }]);
  });

  it('are one of the lists after two concurrent calls', async () => {
    const ctx = await admin();
    const { id } = await createGroup(ctx, { internalName: 'Eile' });
    const people = await Promise.all(Array.from({ length: 6 }, () => make.user({ tenantId: ctx.tenantId })));
    const lists = [people.slice(0, 4), people.slice(2)].map((list) => list.map((one) => one.id).toSorted());
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(lists.map((list) => setGroupMembers(ctx, id, list)));
      const rows = await ctx.read((db) =>
        db.select({ id: groupMembers.userId }).from(groupMembers).where(eq(groupMembers.groupId, id)),
      );
      expect(lists).toContainEqual(rows.map((one) => one.id).toSorted());
    }
  });
});
