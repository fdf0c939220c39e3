import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { groupMembers } from '@portal/db/schema/modules';
import { newId } from '@portal/domain/ids';
import { handle } from '@portal/platform/jobs/handler';
import { type RogueDirectory, startRogueDirectory } from '@portal/testing/servers/rogue-directory';
import type { TestEntry } from '@portal/testing/servers/slapd';
import { startTestWorker } from '@portal/testing/worker';
import { operatorResetPassword } from '@portal/usecases/accounts/temporary-passwords';
import { syncDirectory } from '@portal/usecases/directory/jobs';
import { syncTenantDirectory } from '@portal/usecases/directory/sync/sync-directory';
import { testApp } from '../../testing/app.ts';

/*
 * An ADMIN who points the tenant's directory at a server that accepts every password and reports any data must not become SUPER_ADMIN:
 * neither through an account of that directory nor through a synchronization.
 */

const { make, request, runtime, url, cookieOf } = await testApp();
const worker = startTestWorker(url, { handlers: [handle(syncDirectory, syncTenantDirectory)] });
afterAll(() => worker.stop());
let rogue: RogueDirectory;
beforeAll(async () => {
  rogue = await startRogueDirectory();
});
afterAll(() => rogue.stop());

type Account = Awaited<ReturnType<typeof make.user>>;
const row = (id: string) =>
  runtime.database.acrossTenants('a test reads a row', async (tx) => {
    const [found] = await tx.select().from(users).where(eq(users.id, id));
    return { ...found, groups: await tx.$count(groupMembers, eq(groupMembers.userId, id)) };
  });
let address = 0;
const logIn = (account: Account, password = 'any password') =>
  request({
    method: 'POST',
    url: '/auth/login',
    payload: { username: account.username, password },
    remoteAddress: `198.51.100.${(address += 1)}`,
  });
const entry = (name: string, uuid: string, attributes: Record<string, string> = {}): TestEntry => ({
  dn: `uid=${name},dc=rogue,dc=example`,
  attributes: { objectClass: 'person', uid: name, entryUUID: uuid, ...attributes },
});

/** A tenant whose ADMIN has pointed its directory at the rogue server, with an account of that directory. */
async function rogueTenant(role: 'USER' | 'SUPER_ADMIN' = 'USER') {
  const admin = await make.user({ role: 'ADMIN' });
  const payload = { serverUrl: rogue.url, baseDn: rogue.baseDn };
  expect((await request({ method: 'PUT', url: '/ldap/config', as: admin, payload })).statusCode).toBe(200);
  const directoryId = newId();
  const account = await make.user({
    tenantId: admin.tenantId,
    role,
    directoryId,
    ldapDn: `uid=${directoryId},dc=rogue,dc=example`,
  });
  const sync = async () => {
    const answer = await request({
      method: 'POST',
      url: '/ldap/sync',
      as: admin,
      headers: { prefer: 'wait=25' },
      payload: { force: true },
    });
    return answer.json<{ state: string; counts: Record<string, number>; warnings: string[] }>();
  };
  const preview = async () =>
    (await request({ method: 'POST', url: '/ldap/sync/preview', as: admin })).json<{
      counts: Record<string, number>;
      changes: unknown[];
      warnings: string[];
    }>();
  return { admin, account, directoryId, sync, preview };
}

describe('an account of the directory', () => {
  it('never becomes SUPER_ADMIN, even by a SUPER_ADMIN', async () => {
    const { account } = await rogueTenant();
    const owner = await make.user({ role: 'SUPER_ADMIN' });
    const promote = await request({
      method: 'PATCH',
      url: `/users/${account.id}`,
      as: owner,
      payload: { role: 'SUPER_ADMIN' },
    });
    expect({ status: promote.statusCode, code: promote.json().code }).toEqual({
      status: 409,
      code: 'DIRECTORY_ACCOUNT',
    });
    expect(await row(account.id)).toMatchObject({ role: 'USER' });
    for (const role of ['ADMIN', 'USER'])
      expect(
        (await request({ method: 'PATCH', url: `/users/${account.id}`, as: owner, payload: { role } })).statusCode,
      ).toBe(200);
  });

  it('that is already SUPER_ADMIN cannot sign in through the directory, and its old sessions are invalid', async () => {
    const { account } = await rogueTenant('SUPER_ADMIN');
    const before = rogue.connections();
    const refused = await logIn(account);
    expect(refused.statusCode).toBe(401);
    expect(refused.json()).toMatchObject({ code: 'INVALID_CREDENTIALS' });
    expect(rogue.connections()).toBe(before);
    expect((await request({ url: '/auth/me', headers: { cookie: await cookieOf(account) } })).statusCode).toBe(401);
  });

  it('that becomes SUPER_ADMIN during its directory sign-in is refused', async () => {
    const { account } = await rogueTenant();
    const bindsBefore = rogue.binds.length;
    const locked = Promise.withResolvers<void>();
    const promoted = runtime.database.acrossTenants('a test promotes an account', async (tx) => {
      await tx.update(users).set({ role: 'SUPER_ADMIN' }).where(eq(users.id, account.id));
      locked.resolve();
      // The sign-in has read the old row; opening the session waits for this transaction.
      await expect.poll(() => rogue.binds.length).toBe(bindsBefore + 1);
    });
    await locked.promise;
    const answer = await logIn(account);
    await promoted;
    expect(answer.statusCode).toBe(401);
  });

  it('that is already SUPER_ADMIN becomes a local account when the operator sets a password', async () => {
    const { account, sync } = await rogueTenant('SUPER_ADMIN');
    const system = runtime.system({ requestId: newId(), ip: null, userAgent: null });
    const { temporaryPassword } = await operatorResetPassword(system, account.username);
    // The address came from the directory, so a reset link would go to the operator of that directory.
    expect(await row(account.id)).toMatchObject({ ldapDn: null, directoryId: null, email: null });
    rogue.setEntries({ people: [entry(account.username, newId(), { mail: 'mine@rogue.example' })] });
    expect(await sync()).toMatchObject({ state: 'succeeded', counts: { skipped: 1 } });
    expect((await logIn(account, 'any password')).statusCode).toBe(401);
    const answer = await logIn(account, temporaryPassword);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ user: { role: 'SUPER_ADMIN', isLocalUser: true, mustChangePassword: true } });
  });
});

describe('a SUPER_ADMIN with an entry in the directory', () => {
  const untouched = { created: 0, updated: 0, reactivated: 0, deactivated: 0, memberships: 0 };
  const warnings = [expect.stringMatching(/SUPER_ADMIN, which no synchronization touches/)];

  it.each<[string, (account: Account, id: string) => TestEntry[]]>([
    ['renamed', (_, id) => [entry(`n-${id}`, id)]],
    ['given another address', (account, id) => [entry(account.username, id, { mail: 'mine@rogue.example' })]],
    ['linked again', (account) => [entry(account.username, newId())]],
    ['deactivated', () => []],
  ])('is not %s, and the run warns about it', async (_, people) => {
    const { account, directoryId, sync, preview } = await rogueTenant('SUPER_ADMIN');
    const before = await row(account.id);
    rogue.setEntries({ people: people(account, directoryId) });
    expect(await preview()).toMatchObject({ counts: untouched, changes: [], warnings });
    for (let run = 0; run < 2; run += 1)
      expect(await sync()).toMatchObject({ state: 'succeeded', counts: untouched, warnings });
    expect(await row(account.id)).toEqual(before);
  });

  it('is neither reactivated nor added to groups, and the run warns about it', async () => {
    const { account, directoryId, sync, preview } = await rogueTenant('SUPER_ADMIN');
    await runtime.database.acrossTenants('a test deactivates an account', (tx) =>
      tx.update(users).set({ isActive: false, deactivatedBySync: true }).where(eq(users.id, account.id)),
    );
    const before = await row(account.id);
    const person = entry(account.username, directoryId, { mail: account.email ?? '' });
    rogue.setEntries({
      people: [person],
      groups: [
        {
          dn: 'cn=all,dc=rogue,dc=example',
          attributes: { objectClass: 'groupOfNames', cn: 'all', entryUUID: newId(), member: person.dn },
        },
      ],
    });
    expect(await preview()).toMatchObject({ counts: untouched, changes: [], warnings });
    expect(await sync()).toMatchObject({ state: 'succeeded', counts: untouched, warnings });
    expect(await row(account.id)).toEqual(before);
  });

  it('is not changed by a run that decided before the promotion', async () => {
    for (const people of [
      (_: Account, id: string) => [entry(`n-${id}`, id)],
      (_: Account, id: string) => [entry(`other-${id}`, newId())],
    ]) {
      const { account, directoryId, sync } = await rogueTenant();
      rogue.setEntries({ people: people(account, directoryId) });
      const running = Promise.withResolvers<Awaited<ReturnType<typeof sync>>>();
      await runtime.database.acrossTenants('a test promotes an account', async (tx) => {
        await tx.update(users).set({ role: 'SUPER_ADMIN' }).where(eq(users.id, account.id));
        sync().then(running.resolve, running.reject);
        // The run has decided by the old row, and its statement waits for this transaction.
        await expect
          .poll(async () => {
            const { rows } = await tx.execute(
              `select 1 from pg_locks where not granted and locktype in ('transactionid', 'tuple')`,
            );
            return rows.length;
          })
          .toBeGreaterThan(0);
      });
      const run = await running.promise;
      expect(run).toMatchObject({ state: 'succeeded', warnings });
      expect(run.counts).toMatchObject({ updated: 0, deactivated: 0 });
      expect(await row(account.id)).toMatchObject({
        username: account.username,
        isActive: true,
        ldapDn: account.ldapDn,
        email: account.email,
      });
    }
  });
});
