import { and, eq, isNotNull, sql } from 'drizzle-orm';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { groupMembers, groups } from '@portal/db/schema/modules';
import type { UserContext } from '@portal/platform/context';
import { directoryRuntime } from '@portal/testing/directory';
import { group, person, type TestEntry } from '@portal/testing/servers/slapd';
import { serviceBinary } from '@portal/testing/services';
import { updateUser } from '../../accounts/update-user.ts';
import { deleteUser } from '../../accounts/users.ts';
import { addLdapMapping } from '../ldap-mappings.ts';
import { previewSync } from './preview-sync.ts';

const {
  ownerUrl,
  directory,
  people,
  uid,
  own,
  make,
  adminOf,
  configure,
  sync,
  account,
  accounts,
  usernames,
  memberships,
} = await directoryRuntime();

const groupDn = (name: string) => `cn=${name},ou=groups,dc=example,dc=org`;
const unchanged = { created: 0, updated: 0, reactivated: 0, deactivated: 0, groups: 0, memberships: 0 };

const owner = new Client({ connectionString: ownerUrl });
beforeAll(() => owner.connect());
afterAll(() => owner.end());

/** The versions of all rows of accounts, groups and memberships. */
async function versions(ctx: UserContext): Promise<Set<string>> {
  const { rows } = await ctx.tx((tx) =>
    tx.execute<{ version: string }>(sql`
      select tableoid || ' ' || ctid || ' ' || xmin as version from users union all
      select tableoid || ' ' || ctid || ' ' || xmin from groups union all
      select tableoid || ' ' || ctid || ' ' || xmin from group_members`),
  );
  return new Set(rows.map(({ version }) => version));
}

describe.skipIf(!serviceBinary('slapd'))('a synchronization after another', { timeout: 120_000 }, () => {
  it('writes only changes in the directory or its groups', async () => {
    const everybody = people(700);
    const [a, b, c, d] = everybody as [TestEntry, TestEntry, TestEntry, TestEntry];
    const server = await directory([...everybody, group('all', [groupDn('some'), a.dn]), group('some', [b.dn, c.dn])]);
    const ctx = await adminOf(server);
    expect(await sync(ctx)).toMatchObject({ counts: { created: 700, memberships: 5 } });
    const before = await versions(ctx);
    expect(await sync(ctx)).toMatchObject({ counts: { ...unchanged, read: 700 } });
    expect(await versions(ctx)).toEqual(before);

    await server.modify(d.dn, { displayName: 'Dora' });
    expect(await sync(ctx)).toMatchObject({ counts: { ...unchanged, updated: 1 } });
    const after = await versions(ctx);
    expect({ new: after.difference(before).size, gone: before.difference(after).size }).toEqual({ new: 1, gone: 1 });
    expect(await account(ctx, uid(d))).toMatchObject({ displayName: 'Dora' });

    await server.modify(groupDn('some'), { member: [b.dn, d.dn] });
    expect(await sync(ctx)).toMatchObject({ counts: { ...unchanged, memberships: 4 } });
    expect(await memberships(ctx)).toEqual({
      all: [uid(a), uid(b), uid(d)].toSorted(),
      some: [uid(b), uid(d)].toSorted(),
    });

    // A new first group shifts the positions of all groups.
    await server.delete(groupDn('all'));
    await server.add(group('aaa', [c.dn]));
    await sync(ctx, { force: true });
    expect(await memberships(ctx)).toEqual({ aaa: [uid(c)], some: [uid(b), uid(d)].toSorted() });

    await server.delete(c.dn);
    expect(await sync(ctx, { force: true })).toMatchObject({
      counts: { read: 699, deactivated: 1, groups: 1, memberships: 1 },
    });
    expect(await sync(ctx)).toMatchObject({ counts: { ...unchanged, read: 699 } });
    expect(await previewSync(ctx)).toMatchObject({ counts: { ...unchanged, read: 699 }, changes: [] });
  });

  const tampering: Record<string, (ctx: UserContext, name: string) => Promise<unknown>> = {
    'a changed address': (ctx, name) =>
      ctx.tx((tx) =>
        tx
          .update(users)
          .set({ email: `${name}.x@example.org` })
          .where(eq(users.username, name)),
      ),
    'a changed name': (ctx, name) =>
      ctx.tx((tx) =>
        tx
          .update(users)
          .set({ username: `${name}x` })
          .where(eq(users.username, name)),
      ),
    'a deleted account': async (ctx, name) => deleteUser(ctx, (await account(ctx, name)).id),
    'a missing membership': async (ctx, name) => {
      const { id } = await account(ctx, name);
      await ctx.tx((tx) => tx.delete(groupMembers).where(eq(groupMembers.userId, id)));
    },
    'a membership too many': async (ctx, name) => {
      const { id } = await account(ctx, name);
      const [other] = await ctx.read((db) =>
        db
          .select({ id: groups.id })
          .from(groups)
          .where(and(eq(groups.internalName, 'others'), isNotNull(groups.directoryId))),
      );
      await ctx.tx((tx) =>
        tx.insert(groupMembers).values({ tenantId: ctx.tenantId, groupId: other?.id ?? '', userId: id }),
      );
    },
    'a renamed group': (ctx) =>
      ctx.tx((tx) => tx.update(groups).set({ internalName: 'x' }).where(eq(groups.internalName, 'others'))),
    'a deleted group': (ctx) => ctx.tx((tx) => tx.delete(groups).where(eq(groups.internalName, 'others'))),
  };
  it.each(Object.entries(tampering))(
    'puts right %s, though the directory says the same as before',
    async (_, tamper) => {
      const [a, b] = people(2) as [TestEntry, TestEntry];
      const server = await directory([a, b, group('staff', [a.dn]), group('others', [b.dn])]);
      const ctx = await adminOf(server);
      await sync(ctx);
      const state = async () => ({
        accounts: (await accounts(ctx)).map(({ username, email, isActive }) => ({ username, email, isActive })),
        memberships: await memberships(ctx),
      });
      const before = await state();
      await tamper(ctx, uid(a));
      expect(await state()).not.toEqual(before);
      await sync(ctx);
      expect(await state()).toEqual(before);
      expect(await sync(ctx)).toMatchObject({ counts: unchanged });
    },
  );

  it('switches off an account again that an administrator reactivated, and leaves a manually deactivated one off', async () => {
    const [gone, stays] = people(2) as [TestEntry, TestEntry];
    const server = await directory([gone, stays]);
    const ctx = await adminOf(server);
    await sync(ctx);
    await server.delete(gone.dn);
    await sync(ctx);
    await updateUser(ctx, (await account(ctx, uid(gone))).id, { isActive: true });
    await updateUser(ctx, (await account(ctx, uid(stays))).id, { isActive: false });
    expect(await sync(ctx)).toMatchObject({ counts: { ...unchanged, deactivated: 1 } });
    expect(await usernames(ctx)).toEqual([]);
    expect(await sync(ctx)).toMatchObject({ counts: unchanged });
  });

  it('repeats a warning until its cause is gone', async () => {
    const [a, b] = people(2) as [TestEntry, TestEntry];
    const server = await directory([a, b]);
    const ctx = await adminOf(server);
    const local = await make.user({ tenantId: ctx.tenantId, username: uid(a), email: `${uid(b)}@example.org` });
    const first = await sync(ctx);
    expect(first.warnings).toHaveLength(2);
    for (let run = 0; run < 2; run += 1) {
      const again = await sync(ctx);
      expect(again).toMatchObject({ counts: { ...unchanged, skipped: 1 } });
      expect(again.warnings.toSorted()).toEqual(first.warnings.toSorted());
    }
    await deleteUser(ctx, local.id);
    expect(await sync(ctx)).toMatchObject({
      counts: { ...unchanged, created: 1, updated: 1, skipped: 0 },
      warnings: [],
    });
    expect(await sync(ctx)).toMatchObject({ counts: unchanged, warnings: [] });
  });

  it('follows other mappings and lists over the same entries', async () => {
    const everybody = people(3);
    const [a, b, c] = everybody as [TestEntry, TestEntry, TestEntry];
    const server = await directory([...everybody, group('staff', [a.dn, b.dn])]);
    const ctx = await adminOf(server);
    await sync(ctx);
    await addLdapMapping(ctx, { ldapAttribute: 'sn', field: 'displayName' });
    expect(await sync(ctx)).toMatchObject({ counts: { ...unchanged, updated: 3 } });
    expect(await account(ctx, uid(a))).toMatchObject({ displayName: uid(a) });
    await configure(ctx, server, { userExcludeList: [uid(b)] });
    expect(await sync(ctx)).toMatchObject({ counts: { ...unchanged, deactivated: 1, memberships: 1, skipped: 1 } });
    await configure(ctx, server, { includeDns: [groupDn('staff')] });
    expect(await sync(ctx)).toMatchObject({ counts: { reactivated: 1, deactivated: 1, skipped: 1 } });
    expect(await usernames(ctx)).toEqual([uid(a), uid(b)].toSorted());
    // The include list also depends on the groups.
    await server.modify(groupDn('staff'), { member: [a.dn, c.dn] });
    expect(await sync(ctx, { force: true })).toMatchObject({ counts: { reactivated: 1, deactivated: 1 } });
    expect(await usernames(ctx)).toEqual([uid(a), uid(c)].toSorted());
  });

  it('keeps warning about a skipped SUPER_ADMIN, and follows the directory after the demotion', async () => {
    const [boss] = people(1) as [TestEntry];
    const server = await directory([boss]);
    const ctx = await adminOf(server);
    await sync(ctx);
    await owner.query(`update users set role = 'SUPER_ADMIN' where username = $1`, [uid(boss)]);
    await server.delete(boss.dn);
    for (let run = 0; run < 3; run += 1) {
      expect(await sync(ctx, { force: true })).toMatchObject({
        counts: unchanged,
        warnings: [expect.stringContaining('SUPER_ADMIN, which no synchronization touches')],
      });
    }
    await owner.query(`update users set role = 'USER' where username = $1`, [uid(boss)]);
    expect(await sync(ctx, { force: true })).toMatchObject({ counts: { deactivated: 1 }, warnings: [] });
  });

  it('converges after any sequence of changes', async () => {
    const names = Array.from({ length: 14 }, (_, n) => own(`w${n}y`));
    const groupNames = ['red', 'green', 'blue', 'violet'];
    const pick = <T>(from: T[]): T => from[Math.floor(Math.random() * from.length)] as T;
    const server = await directory(names.slice(0, 8).map((name) => person(name)));
    const ctx = await adminOf(server);
    const dn = (name: string) => `uid=${name},ou=people,dc=example,dc=org`;
    const inDirectory = new Set(names.slice(0, 8));
    const groupsThere = new Set<string>();
    const members = () => [...names.filter(() => Math.random() < 0.4).map(dn), groupDn(pick(groupNames))];
    const steps: Record<string, () => Promise<unknown>> = {
      async person() {
        const name = pick(names);
        if (inDirectory.delete(name)) return server.delete(dn(name));
        inDirectory.add(name);
        return server.add(person(name, { mail: `${pick(names)}@example.org` }));
      },
      async rename() {
        const [from, to] = [pick(names), pick(names)];
        if (!inDirectory.has(from) || inDirectory.has(to)) return;
        inDirectory.delete(from);
        inDirectory.add(to);
        await server.rename(dn(from), dn(to));
      },
      async change() {
        const name = pick(names);
        if (!inDirectory.has(name)) return;
        await server.modify(dn(name), {
          mail: `${pick(names)}@example.org`,
          displayName: pick(['Eins', 'Zwei', '']) || [],
        });
      },
      async group() {
        const name = pick(groupNames);
        if (!groupsThere.has(name)) {
          groupsThere.add(name);
          return server.add(group(name, members()));
        }
        if (Math.random() < 0.7) return server.modify(groupDn(name), { member: members() });
        groupsThere.delete(name);
        return server.delete(groupDn(name));
      },
      async account() {
        const found = pick(await accounts(ctx));
        if (!found) return;
        return Math.random() < 0.5
          ? deleteUser(ctx, found.id)
          : updateUser(ctx, found.id, { isActive: !found.isActive });
      },
      async membership() {
        const rows = await ctx.read((db) => db.select().from(groupMembers));
        const row = rows[Math.floor(Math.random() * rows.length)];
        if (!row) return;
        await ctx.tx((tx) =>
          tx
            .delete(groupMembers)
            .where(and(eq(groupMembers.groupId, row.groupId), eq(groupMembers.userId, row.userId))),
        );
      },
    };
    const done: string[] = [];
    for (let round = 0; round < 30; round += 1) {
      for (let step = 0; step < 1 + (round % 3); step += 1) {
        const name = pick(Object.keys(steps));
        done.push(name);
        await steps[name]?.();
      }
      // A name given up in one run may be free for another account only in the next.
      let run = await sync(ctx, { force: true });
      for (
        let more = 0;
        more < 4 && Object.keys(unchanged).some((what) => run.counts[what as 'created'] > 0);
        more += 1
      )
        run = await sync(ctx, { force: true });
      expect(run.counts, done.join(', ')).toMatchObject(unchanged);
    }
  });
});
