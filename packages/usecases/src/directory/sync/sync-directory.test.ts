import { eq, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { groups, moduleGrants } from '@portal/db/schema/modules';
import { auditEntries } from '@portal/db/schema/platform/audit';
import type { UserContext } from '@portal/platform/context';
import { directoryRuntime } from '@portal/testing/directory';
import { group, person, type TestEntry } from '@portal/testing/servers/slapd';
import { serviceBinary } from '@portal/testing/services';
import { the } from '@portal/testing/the';
import { updateUser } from '../../accounts/update-user.ts';
import { deleteUser } from '../../accounts/users.ts';
import { setGrant } from '../../modules/grants.ts';
import { addLdapMapping } from '../ldap-mappings.ts';
import { previewSync } from './preview-sync.ts';

const {
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
  runtime,
} = await directoryRuntime();

describe.skipIf(!serviceBinary('slapd'))('a synchronization with OpenLDAP', { timeout: 120_000 }, () => {
  it('imports all people, and writes nothing if nothing has changed', async () => {
    const everybody = people(1_203);
    const [a, b, c] = everybody as [TestEntry, TestEntry, TestEntry];
    const server = await directory([
      ...everybody,
      group('staff', ['cn=sales,ou=groups,dc=example,dc=org', a.dn]),
      group('sales', [b.dn, c.dn]),
    ]);
    const ctx = await adminOf(server);
    const first = await sync(ctx);
    expect(first).toMatchObject({
      trigger: 'manual',
      state: 'succeeded',
      error: null,
      warnings: [],
      progress: { done: 1_203, total: 1_203 },
      counts: { read: 1_203, created: 1_203, updated: 0, deactivated: 0, skipped: 0, groups: 2, memberships: 5 },
    });
    expect(await account(ctx, uid(a))).toMatchObject({
      email: `${uid(a)}@example.org`,
      displayName: `Person ${uid(a)}`,
      lastName: uid(a),
      ldapDn: a.dn,
      directoryId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
      passwordHash: null,
      role: 'USER',
      isActive: true,
      mustChangePassword: false,
    });
    expect(await memberships(ctx)).toEqual({
      sales: [uid(b), uid(c)].toSorted(),
      staff: [uid(a), uid(b), uid(c)].toSorted(),
    });

    const before = await rowVersions(ctx);
    const second = await sync(ctx);
    expect(second).toMatchObject({
      state: 'succeeded',
      counts: { read: 1_203, created: 0, updated: 0, groups: 0, memberships: 0 },
    });
    expect(await rowVersions(ctx)).toEqual(before);
    // Names the administrator, and has no entry for a run that changed nothing.
    const entries = await ctx.read((db) => db.select().from(auditEntries).where(eq(auditEntries.action, 'ldap.sync')));
    expect(entries).toMatchObject([
      { actorId: ctx.actor.id, summary: expect.stringContaining('1203 accounts created') },
    ]);
  });

  it('keeps the accounts of people who change, are renamed or move', async () => {
    const [anna, berta] = [person(own('anna')), person(own('berta'))];
    const server = await directory([anna, berta]);
    const ctx = await adminOf(server);
    await sync(ctx);
    const { id } = await account(ctx, uid(anna));
    await server.add({
      dn: 'ou=moved,dc=example,dc=org',
      attributes: { objectClass: 'organizationalUnit', ou: 'moved' },
    });
    const newName = own('anna');
    await server.rename(anna.dn, `uid=${newName},ou=moved,dc=example,dc=org`);
    await server.modify(`uid=${newName},ou=moved,dc=example,dc=org`, {
      mail: 'Anna.New@example.org',
      sn: 'Neu',
      displayName: [],
    });
    expect(await sync(ctx)).toMatchObject({ counts: { created: 0, updated: 1, deactivated: 0 }, warnings: [] });
    expect(await account(ctx, newName)).toMatchObject({
      id,
      ldapDn: `uid=${newName},ou=moved,dc=example,dc=org`,
      email: 'anna.new@example.org',
      lastName: 'Neu',
      displayName: null,
    });
  });

  it('swaps the names and addresses of people who swap theirs, in one run', async () => {
    const [one, two, three] = [own('one'), own('two'), own('three')];
    const entries = [one, two, three].map((name) => person(name));
    const server = await directory(entries);
    const ctx = await adminOf(server);
    await sync(ctx);
    const ids = await Promise.all([one, two, three].map(async (name) => (await account(ctx, name)).id));
    const dn = (name: string) => `uid=${name},ou=people,dc=example,dc=org`;
    // one → two → three → one; each address moves with its name.
    await server.rename(dn(one), dn('parked'));
    await server.rename(dn(three), dn(one));
    await server.rename(dn(two), dn(three));
    await server.rename(dn('parked'), dn(two));
    for (const name of [one, two, three]) await server.modify(dn(name), { mail: `${name}@example.org` });
    const preview = await previewSync(ctx);
    const run = await sync(ctx);
    expect(run).toMatchObject({ state: 'succeeded', counts: { updated: 3, created: 0, skipped: 0 }, warnings: [] });
    expect(preview.counts).toEqual(run.counts);
    for (const [index, name] of [two, three, one].entries())
      expect(await account(ctx, name)).toMatchObject({
        id: ids[index],
        email: `${name}@example.org`,
        ldapDn: dn(name),
      });
  });

  it('gives a freed name to a new person in the same run', async () => {
    const [old, other] = [own('old'), own('other')];
    const server = await directory([person(old)]);
    const ctx = await adminOf(server);
    await sync(ctx);
    const { id } = await account(ctx, old);
    const dn = (name: string) => `uid=${name},ou=people,dc=example,dc=org`;
    await server.rename(dn(old), dn(other));
    await server.add(person(old, { mail: 'second@example.org' }));
    expect((await previewSync(ctx)).counts).toMatchObject({ created: 1, updated: 1, skipped: 0 });
    expect(await sync(ctx)).toMatchObject({ counts: { created: 1, updated: 1 }, warnings: [] });
    expect((await account(ctx, other)).id).toBe(id);
    expect(await account(ctx, old)).toMatchObject({ email: 'second@example.org' });
  });

  it('switches off people who left and reactivates those who return, except accounts that an administrator switched off', async () => {
    const [anna, berta] = [person(own('anna')), person(own('berta'))];
    const server = await directory([anna, berta, group('staff', [anna.dn, berta.dn])]);
    const ctx = await adminOf(server);
    await sync(ctx);
    const before = await account(ctx, uid(anna));
    await server.delete(anna.dn);
    expect(await sync(ctx)).toMatchObject({ counts: { deactivated: 1, memberships: 1 } });
    expect(await account(ctx, uid(anna))).toMatchObject({ isActive: false, deactivatedBySync: true });
    expect(await memberships(ctx)).toEqual({ staff: [uid(berta)] });
    // Another entry with the same name: the directory has recreated the person.
    await server.add(anna);
    expect(await sync(ctx)).toMatchObject({ counts: { reactivated: 1, created: 0 } });
    const after = await account(ctx, uid(anna));
    expect(after).toMatchObject({ id: before.id, isActive: true, deactivatedBySync: false });
    expect(after.directoryId).not.toBe(before.directoryId);

    await updateUser(ctx, after.id, { isActive: false });
    expect(await sync(ctx)).toMatchObject({ counts: { reactivated: 0, updated: 0 } });
    await server.delete(anna.dn);
    await sync(ctx);
    await server.add(anna);
    await sync(ctx);
    expect(await account(ctx, uid(anna))).toMatchObject({ isActive: false });
  });

  it('never takes over a local account, and says so', async () => {
    const name = own('anna');
    const server = await directory([person(name), person(own('berta'))]);
    const ctx = await adminOf(server);
    const local = await make.user({ tenantId: ctx.tenantId, username: name, email: `local-${name}@example.org` });
    const run = await sync(ctx);
    expect(run).toMatchObject({
      counts: { read: 2, created: 1, skipped: 1 },
      warnings: [expect.stringContaining('local account')],
    });
    expect(await account(ctx, name)).toMatchObject({ id: local.id, ldapDn: null, directoryId: null });
    expect((await previewSync(ctx)).warnings).toEqual(run.warnings);
  });

  it('treats an account of another tenant as foreign, although both read the same directory', async () => {
    const anna = person(own('anna'));
    const server = await directory([anna]);
    const [ctx, other] = [await adminOf(server), await adminOf(server)];
    await sync(ctx);
    const before = await account(ctx, uid(anna));
    const newName = own('anna');
    await server.rename(anna.dn, anna.dn.replace(uid(anna), newName));
    expect(await sync(other)).toMatchObject({ counts: { created: 1 } });
    expect(await account(other, newName)).toMatchObject({ directoryId: before.directoryId });
    expect(await account(ctx, uid(anna))).toEqual(before);
  });

  it('leaves a taken address empty until it is free, whether in this tenant, another one or the directory', async () => {
    const [a, b, c, d] = [own('a'), own('b'), own('c'), own('d')];
    const elsewhere = await make.user();
    const server = await directory([
      person(a, { mail: 'shared@example.org' }),
      person(b, { mail: 'shared@example.org' }),
      person(c, { mail: elsewhere.email as string }),
      person(d, { mail: 'no address' }),
    ]);
    const ctx = await adminOf(server);
    const local = await make.user({ tenantId: ctx.tenantId, email: 'elsewhere@example.org' });
    const run = await sync(ctx);
    expect(run).toMatchObject({ counts: { created: 4, skipped: 0 } });
    expect(run.warnings).toHaveLength(3);
    const emails = (await accounts(ctx)).map(({ email }) => email);
    expect(emails.filter((email) => email === 'shared@example.org')).toHaveLength(1);
    expect(emails.filter((email) => email === null)).toHaveLength(3);

    const before = await rowVersions(ctx);
    expect(await sync(ctx)).toMatchObject({ counts: { updated: 0 }, warnings: expect.arrayContaining(run.warnings) });
    expect(await rowVersions(ctx)).toEqual(before);

    await server.modify(`uid=${c},ou=people,dc=example,dc=org`, { mail: local.email as string });
    await runtime.database.acrossTenants('a test frees an address', (tx) =>
      tx.update(users).set({ email: null }).where(eq(users.id, local.id)),
    );
    await sync(ctx);
    expect(await account(ctx, c)).toMatchObject({ email: 'elsewhere@example.org' });
  });

  it('separates two tenants on one directory, and does not reveal where a name is taken', async () => {
    const [a, b] = [own('a'), own('b')];
    const server = await directory([person(a), person(b)]);
    const [first, second] = [await adminOf(server), await adminOf(server, { userExcludeList: [] })];
    await sync(first);
    const run = await sync(second);
    expect(run).toMatchObject({ state: 'succeeded', counts: { created: 0, skipped: 2 } });
    expect(run.warnings).toHaveLength(2);
    expect(run.warnings.join(' ')).not.toMatch(/tenant/i);
    expect(run.warnings.join(' ')).not.toContain(first.tenantId);
    expect(await accounts(second)).toEqual([]);
    expect(await usernames(first)).toEqual([a, b].toSorted());
    expect(await sync(first)).toMatchObject({ counts: { updated: 0, deactivated: 0 } });
  });

  it('always picks the same of two entries with one name, and keeps a person whose name is unusable', async () => {
    const [a, b] = [own('a'), own('b')];
    const server = await directory([person(a), person(b)]);
    await server.add({
      dn: 'ou=more,dc=example,dc=org',
      attributes: { objectClass: 'organizationalUnit', ou: 'more' },
    });
    const twin = { ...person(a), dn: `uid=${a},ou=more,dc=example,dc=org` };
    await server.add(twin);
    const ctx = await adminOf(server);
    expect(await sync(ctx)).toMatchObject({
      counts: { read: 3, created: 2, skipped: 1 },
      warnings: [expect.stringContaining('more than once')],
    });
    const { directoryId } = await account(ctx, a);
    const before = await rowVersions(ctx);
    expect(await sync(ctx)).toMatchObject({ counts: { created: 0, updated: 0, deactivated: 0, skipped: 1 } });
    expect((await account(ctx, a)).directoryId).toBe(directoryId);
    expect(await rowVersions(ctx)).toEqual(before);

    await addLdapMapping(ctx, { ldapAttribute: 'employeeNumber', field: 'username' });
    await server.modify(`uid=${b},ou=people,dc=example,dc=org`, { employeeNumber: 'x'.repeat(200) });
    const run = await sync(ctx);
    expect(run).toMatchObject({ counts: { deactivated: 0 } });
    expect(run.warnings).toEqual(expect.arrayContaining([expect.stringContaining(`“${b}” keeps its username`)]));
  });

  it('skips excluded people and switches off their accounts, without the deactivation limit', async () => {
    const everybody = people(8);
    const server = await directory(everybody);
    const ctx = await adminOf(server);
    await sync(ctx);
    await configure(ctx, server, { userExcludeList: everybody.slice(1).map((entry) => uid(entry).toUpperCase()) });
    const preview = await previewSync(ctx);
    expect(preview).toMatchObject({ isBlocked: false, counts: { deactivated: 7, skipped: 7 } });
    expect(preview.changes).toHaveLength(7);
    expect(await sync(ctx)).toMatchObject({ state: 'succeeded', counts: { deactivated: 7, skipped: 7 } });
    expect(await usernames(ctx)).toEqual([uid(everybody[0] as TestEntry)]);
    await configure(ctx, server);
    expect(await sync(ctx)).toMatchObject({ counts: { reactivated: 7 } });
  });

  it('switches off an account that is excluded by its kept name, and leaves it off', async () => {
    const [anna, berta] = [person(own('anna')), person(own('berta'))];
    const server = await directory([anna, berta]);
    const ctx = await adminOf(server);
    const newName = own('anna');
    await server.add(group('staff', [anna.dn.replace(uid(anna), newName), berta.dn]));
    await sync(ctx);
    const local = await make.user({ tenantId: ctx.tenantId, username: newName });
    const newDn = anna.dn.replace(uid(anna), newName);
    await server.rename(anna.dn, newDn);
    expect(await sync(ctx)).toMatchObject({ warnings: [expect.stringContaining('keeps its username')] });
    expect(await account(ctx, uid(anna))).toMatchObject({ isActive: true, ldapDn: newDn });

    await configure(ctx, server, { userExcludeList: [uid(anna).toUpperCase()] });
    const preview = await previewSync(ctx);
    const run = await sync(ctx);
    expect(run).toMatchObject({
      counts: { read: 2, updated: 0, deactivated: 1, skipped: 1, memberships: 1 },
      warnings: [],
    });
    expect(preview.counts).toEqual(run.counts);
    expect(preview.changes).toMatchObject([{ kind: 'deactivate', username: uid(anna) }]);
    expect(await memberships(ctx)).toEqual({ staff: [uid(berta)] });
    expect(await account(ctx, uid(anna))).toMatchObject({ isActive: false, deactivatedBySync: true });
    // Nor when its entry says something else, or nothing is remembered of it.
    for (const change of [
      () => undefined,
      () => server.modify(newDn, { sn: 'Neu' }),
      () => addLdapMapping(ctx, { ldapAttribute: 'sn', field: 'displayName' }),
    ]) {
      await change();
      const before = await account(ctx, uid(anna));
      expect(await sync(ctx)).toMatchObject({ counts: { reactivated: 0, deactivated: 0, skipped: 1 }, warnings: [] });
      expect(await account(ctx, uid(anna))).toEqual(before);
    }

    // It keeps the excluded name only until the other one is free.
    await deleteUser(ctx, local.id);
    expect(await sync(ctx)).toMatchObject({ counts: { reactivated: 1, memberships: 1 } });
    expect(await account(ctx, newName)).toMatchObject({ isActive: true, ldapDn: newDn });
  });

  it('keeps the address of an account that is excluded by its kept name, even if another person has that address', async () => {
    const [anna, berta] = [person(own('anna')), person(own('berta'))];
    const server = await directory([anna, berta]);
    const ctx = await adminOf(server);
    await sync(ctx);
    const newName = own('anna');
    await make.user({ tenantId: ctx.tenantId, username: newName });
    const newDn = anna.dn.replace(uid(anna), newName);
    await server.rename(anna.dn, newDn);
    await server.modify(newDn, { mail: `${newName}@example.org` });
    await server.modify(berta.dn, { mail: `${uid(anna)}@example.org` });
    await configure(ctx, server, { userExcludeList: [uid(anna)] });
    const preview = await previewSync(ctx);
    const run = await sync(ctx);
    expect(run).toMatchObject({
      state: 'succeeded',
      counts: { updated: 1, deactivated: 1 },
      warnings: [expect.stringContaining('is taken by another account')],
    });
    expect(preview).toMatchObject({ counts: run.counts, warnings: run.warnings });
    expect(await account(ctx, uid(anna))).toMatchObject({ isActive: false, email: `${uid(anna)}@example.org` });
    expect(await account(ctx, uid(berta))).toMatchObject({ email: null });
  });

  it('deactivates the only person of a directory once the exclude list names them', async () => {
    const only = person(own('only'));
    const server = await directory([only]);
    const ctx = await adminOf(server);
    await sync(ctx);
    await configure(ctx, server, { userExcludeList: [uid(only)] });
    expect(await sync(ctx)).toMatchObject({ state: 'succeeded', counts: { deactivated: 1 } });
  });

  it('imports members of included groups, nested groups and whole units, and treats others as gone', async () => {
    const [a, b, c, d] = people(4) as [TestEntry, TestEntry, TestEntry, TestEntry];
    const inUnit = { ...person(own('unit')), dn: 'uid=unit,ou=Räume\\, Bau,dc=example,dc=org' };
    inUnit.attributes = { ...inUnit.attributes, uid: 'unit' };
    const server = await directory([
      a,
      b,
      c,
      d,
      { dn: 'ou=Räume\\, Bau,dc=example,dc=org', attributes: { objectClass: 'organizationalUnit', ou: 'Räume, Bau' } },
      inUnit,
      group('portal', ['cn=inner,ou=groups,dc=example,dc=org', a.dn]),
      group('inner', ['cn=portal,ou=groups,dc=example,dc=org', b.dn]),
      group('other', [d.dn]),
    ]);
    const ctx = await adminOf(server, {
      includeDns: [
        'CN=Portal, OU=groups,dc=example,dc=org',
        String.raw`ou=R\C3\A4ume\2c Bau,dc=example,dc=org`,
        'cn=nobody,dc=example,dc=org',
      ],
    });
    const run = await sync(ctx);
    expect(run).toMatchObject({
      counts: { read: 5, created: 3, skipped: 2 },
      warnings: ['Entry 3 of the include list does not exist in the directory.'],
    });
    expect(await usernames(ctx)).toEqual([uid(a), uid(b), 'unit'].toSorted());
    expect(Object.keys(await memberships(ctx))).toEqual(['inner', 'portal']);

    await server.modify('cn=inner,ou=groups,dc=example,dc=org', {
      member: ['cn=portal,ou=groups,dc=example,dc=org', c.dn],
    });
    expect(await sync(ctx)).toMatchObject({ counts: { created: 1, deactivated: 1 } });
    expect(await usernames(ctx)).toEqual([uid(a), uid(c), 'unit'].toSorted());
  });

  it('finds an included group and its nested ones outside the base', async () => {
    const [a, b, c] = people(3) as [TestEntry, TestEntry, TestEntry];
    const server = await directory([
      a,
      b,
      c,
      group('outer', ['cn=nested,ou=groups,dc=example,dc=org', a.dn]),
      group('nested', [b.dn]),
    ]);
    const ctx = await adminOf(server, {
      baseDn: server.peopleDn,
      includeDns: ['cn=outer,ou=groups,dc=example,dc=org'],
    });
    expect(await sync(ctx)).toMatchObject({ counts: { read: 3, created: 2 }, warnings: [] });
    expect(await usernames(ctx)).toEqual([uid(a), uid(b)].toSorted());
  });

  it('follows groups that are renamed, emptied and deleted, and distinguishes two with the same name', async () => {
    const [a, b] = people(2) as [TestEntry, TestEntry];
    const server = await directory([
      a,
      b,
      group('one', [a.dn]),
      group('two', [b.dn]),
      { ...group('one', [b.dn]), dn: 'cn=one,ou=people,dc=example,dc=org' },
    ]);
    const ctx = await adminOf(server);
    expect(await sync(ctx)).toMatchObject({ counts: { groups: 3, memberships: 3 } });
    await server.rename('cn=one,ou=groups,dc=example,dc=org', 'cn=renamed,ou=groups,dc=example,dc=org');
    await server.modify('cn=two,ou=groups,dc=example,dc=org', { member: 'cn=nobody,dc=example,dc=org' });
    const preview = await previewSync(ctx);
    const run = await sync(ctx);
    expect(run).toMatchObject({ counts: { groups: 2 } });
    expect(preview.counts.groups).toBe(2);
    expect(await memberships(ctx)).toEqual({ one: [uid(b)], renamed: [uid(a)] });
  });

  it('stops before it switches off many accounts, until it is forced', async () => {
    const everybody = people(12);
    const server = await directory(everybody);
    const ctx = await adminOf(server);
    await sync(ctx);
    for (const entry of everybody.slice(0, 5)) await server.delete(entry.dn);
    expect(await sync(ctx)).toMatchObject({ state: 'succeeded', counts: { deactivated: 5 } });
    for (const entry of everybody.slice(5, 11)) await server.delete(entry.dn);
    await server.add(person(own('new')));
    const before = await rowVersions(ctx);
    expect(await previewSync(ctx)).toMatchObject({ isBlocked: true, counts: { deactivated: 6, created: 1 } });
    const run = await sync(ctx);
    expect(run).toMatchObject({
      state: 'blocked',
      error: expect.stringContaining('6 of 7 accounts'),
      counts: { created: 0, deactivated: 0 },
    });
    expect(await rowVersions(ctx)).toEqual(before);
    expect(await sync(ctx, { force: true })).toMatchObject({
      state: 'succeeded',
      counts: { created: 1, deactivated: 6 },
    });
    const summaries = await ctx.read((db) =>
      db.select().from(auditEntries).where(eq(auditEntries.action, 'ldap.sync')),
    );
    const names = (part: TestEntry[]) => part.map(uid).toSorted().join(', ');
    expect(summaries.map(({ summary }) => summary)).toEqual(
      expect.arrayContaining([
        expect.stringContaining('blocked'),
        `The synchronization switched accounts off: ${names(everybody.slice(5, 11))}.`,
      ]),
    );
  });

  it('stops before it removes many groups with their grants', async () => {
    const [a] = people(1) as [TestEntry];
    const names = Array.from({ length: 7 }, (_, n) => `g${n}`);
    const server = await directory([a, ...names.map((name) => group(name, [a.dn]))]);
    const ctx = await adminOf(server);
    await sync(ctx);
    for (const name of names.slice(0, 6)) await server.delete(`cn=${name},ou=groups,dc=example,dc=org`);
    expect(await sync(ctx)).toMatchObject({ state: 'blocked', error: expect.stringContaining('6 of 7 groups') });
    expect(Object.keys(await memberships(ctx))).toEqual(names);
    expect(await sync(ctx, { force: true })).toMatchObject({ state: 'succeeded', counts: { groups: 6 } });
  });

  it('keeps an empty group and its grants while the directory has it', async () => {
    const [a, b] = people(2) as [TestEntry, TestEntry];
    const server = await directory([a, b, group('sales', [a.dn]), group('staff', [b.dn])]);
    const ctx = await adminOf(server);
    await sync(ctx);
    const [sales] = await ctx.read((db) => db.select().from(groups).where(eq(groups.internalName, 'sales')));
    await setGrant(ctx, {
      subjectType: 'group',
      subjectId: the(sales).id,
      moduleKey: 'tender-radar',
      level: 'USE',
    });
    for (const name of ['sales', 'staff']) {
      const dn = `cn=${name},ou=groups,dc=example,dc=org`;
      await server.modify(dn, { member: [`uid=nobody,ou=people,dc=example,dc=org`] });
    }
    expect(await previewSync(ctx)).toMatchObject({ counts: { groups: 1, memberships: 2 } });
    expect(await sync(ctx)).toMatchObject({ state: 'succeeded', counts: { groups: 1, memberships: 2 } });
    expect(await memberships(ctx)).toEqual({ sales: [] });
    await server.modify(`cn=sales,ou=groups,dc=example,dc=org`, { member: [a.dn] });
    await sync(ctx);
    expect(await ctx.read((db) => db.select({ groupId: moduleGrants.groupId }).from(moduleGrants))).toEqual([
      { groupId: the(sales).id },
    ]);
    expect(await memberships(ctx)).toEqual({ sales: [expect.any(String)] });
    await server.delete(`cn=sales,ou=groups,dc=example,dc=org`);
    await sync(ctx);
    expect(await memberships(ctx)).toEqual({});
  });

  it('never changes a SUPER_ADMIN in a swap, after leaving or in groups, and ignores them for the deactivation limit', async () => {
    const [a, b, c] = people(3) as [TestEntry, TestEntry, TestEntry];
    const server = await directory([a, b, c, group('staff', [a.dn, b.dn])]);
    const ctx = await adminOf(server);
    await sync(ctx);
    const makeSuper = (username: string) =>
      runtime.database.acrossTenants('a test appoints', (tx) =>
        tx.update(users).set({ role: 'SUPER_ADMIN' }).where(eq(users.username, username)),
      );
    await makeSuper(uid(a));
    await makeSuper(uid(b));
    const before = [await account(ctx, uid(a)), await account(ctx, uid(b))];
    await server.delete(b.dn);
    // The SUPER_ADMIN and another person swap names in the directory: neither gets the other's name.
    const dn = (name: string) => `uid=${name},ou=people,dc=example,dc=org`;
    await server.rename(a.dn, dn('parked'));
    await server.rename(c.dn, dn(uid(a)));
    await server.rename(dn('parked'), dn(uid(c)));
    const warnings = expect.arrayContaining([
      expect.stringContaining(`“${uid(a)}” was left as it is: it is a SUPER_ADMIN`),
      expect.stringContaining(`“${uid(b)}” was left as it is: it is a SUPER_ADMIN`),
      expect.stringContaining(`“${uid(c)}” keeps its username`),
    ]);
    const preview = await previewSync(ctx);
    const run = await sync(ctx);
    expect(run).toMatchObject({ state: 'succeeded', counts: { deactivated: 0, memberships: 0 }, warnings });
    expect(preview).toMatchObject({ counts: run.counts, warnings });
    expect([await account(ctx, uid(a)), await account(ctx, uid(b))]).toEqual(before);
    expect(await memberships(ctx)).toEqual({ staff: [uid(a), uid(b)].toSorted() });
    // After the demotion, the account follows the directory again.
    await runtime.database.acrossTenants('a test ends', (tx) =>
      tx.update(users).set({ role: 'USER' }).where(eq(users.tenantId, ctx.tenantId)),
    );
    expect(await sync(ctx)).toMatchObject({ counts: { updated: 2, deactivated: 1 }, warnings: [] });
  });

  it('accepts names with umlauts, commas, plus signs, quotes and other scripts', async () => {
    const names = [
      'müller, jürgen',
      'a+b',
      'say "hi"',
      'back\\slash',
      '名前',
      'semi;colon',
      '<angle>',
      '#hash',
      'trailing=equals',
    ];
    const server = await directory([
      ...names.map((name) => person(name)),
      group(
        'Größe, "Maß" + mehr',
        names.map((name) => person(name).dn),
      ),
    ]);
    const ctx = await adminOf(server);
    const run = await sync(ctx);
    expect(run).toMatchObject({
      state: 'succeeded',
      counts: { created: names.length, groups: 1, memberships: names.length },
    });
    expect(await usernames(ctx)).toEqual(expect.arrayContaining(names));
    expect(Object.keys(await memberships(ctx))).toEqual(['Größe, "Maß" + mehr']);
    expect(await sync(ctx)).toMatchObject({ counts: { created: 0, updated: 0, groups: 0, memberships: 0 } });
  });

  it('previews what a run then does, without writing anything', async () => {
    const [a, b, c, d] = people(4) as [TestEntry, TestEntry, TestEntry, TestEntry];
    const server = await directory([a, b, c, group('staff', [a.dn, b.dn])]);
    const ctx = await adminOf(server);
    await sync(ctx);
    await server.delete(a.dn);
    await server.add(d);
    await server.modify(b.dn, { sn: 'Neu' });
    await server.modify('cn=staff,ou=groups,dc=example,dc=org', { member: [b.dn, d.dn] });
    const before = await rowVersions(ctx);
    const preview = await previewSync(ctx);
    expect(await rowVersions(ctx)).toEqual(before);
    expect(preview.changes).toEqual([
      {
        kind: 'update',
        username: uid(b),
        details: 'Changes last name.',
        fields: [{ field: 'lastName', before: expect.any(String), after: 'Neu' }],
      },
      { kind: 'create', username: uid(d), details: 'Gets an account.', fields: [] },
      { kind: 'deactivate', username: uid(a), details: expect.stringContaining('switched off'), fields: [] },
    ]);
    expect(JSON.stringify(preview)).not.toContain('dc=example');
    expect((await sync(ctx)).counts).toEqual(preview.counts);
    const { rows } = await ctx.tx((tx) => tx.execute(sql`select 1 from ldap_staged_entries`));
    expect(rows).toEqual([]);
  });
});

/** The versions of all rows; any write changes them. */
async function rowVersions(ctx: UserContext): Promise<unknown[]> {
  const { rows } = await ctx.tx((tx) =>
    tx.execute(sql`
      select 'user' as what, id::text as id, ctid::text, xmin::text, xmax::text from users where ldap_dn is not null
      union all select 'group', id::text, ctid::text, xmin::text, xmax::text from groups
      union all select 'member', group_id::text || user_id::text, ctid::text, xmin::text, xmax::text from group_members
      order by 1, 2`),
  );
  return rows;
}
