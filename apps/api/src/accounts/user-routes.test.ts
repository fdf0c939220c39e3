import { describe, expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { testApp } from '../../testing/app.ts';

const { make, request } = await testApp();

describe('/users', () => {
  it('creates, reads, changes and deletes an account and never shows its password or directory entry', async () => {
    const admin = await make.user({ role: 'ADMIN' });
    const username = `Max.${newId()}`;
    const created = await request({
      method: 'POST',
      url: '/users',
      as: admin,
      payload: { username, email: ' MAX@Example.org ', password: 'correct horse battery', unknown: 1 },
    });
    expect(created.statusCode).toBe(201);
    const user = created.json<{ id: string }>();
    expect(user).toMatchObject({
      username: username.toLowerCase(),
      email: 'max@example.org',
      role: 'USER',
      isActive: true,
      source: 'local',
      mustChangePassword: true,
      tenantId: admin.tenantId,
    });
    expect(created.body).not.toMatch(/passwordHash|ldapDn|argon2|sessionVersion|dashboardBackground/);
    expect((await request({ url: `/users/${user.id}`, as: admin })).json()).toEqual(user);
    const changed = await request({
      method: 'PATCH',
      url: `/users/${user.id}`,
      as: admin,
      payload: { displayName: ' Max ', accentColor: '#ABCDEF', email: null },
    });
    expect(changed.json()).toMatchObject({ displayName: 'Max', accentColor: '#abcdef', email: null });
    expect((await request({ method: 'DELETE', url: `/users/${user.id}`, as: admin })).statusCode).toBe(204);
    expect((await request({ url: `/users/${user.id}`, as: admin })).statusCode).toBe(404);
  });

  it.each([
    [{}, 'username'],
    [{ username: 'a\u0007b' }, 'username'],
    [{ username: 'x'.repeat(129) }, 'username'],
    [{ username: 'ok', email: 'nonsense' }, 'email'],
    [{ username: 'ok', role: 'ROOT' }, 'role'],
    [{ username: 'ok', isActive: 'yes' }, 'isActive'],
    [{ username: 'ok', displayName: 'x'.repeat(201) }, 'displayName'],
    [{ username: 'ok', tenantId: 'none' }, 'tenantId'],
  ])('answers 400 to %j and names the field', async (payload, path) => {
    const answer = await request({ method: 'POST', url: '/users', as: await make.user({ role: 'ADMIN' }), payload });
    expect([answer.statusCode, answer.json<{ details: { path: string }[] }>().details[0]?.path]).toEqual([400, path]);
  });

  it('does not let a change set password or tenant', async () => {
    const admin = await make.user({ role: 'ADMIN' });
    const user = await make.user({ tenantId: admin.tenantId });
    const patch = async (payload: object) =>
      (await request({ method: 'PATCH', url: `/users/${user.id}`, as: admin, payload })).json<{
        statusCode: number;
        code: string;
      }>();
    expect(await patch({ password: 'correct horse battery' })).toMatchObject({
      statusCode: 400,
      code: 'VALIDATION_FAILED',
    });
    expect(await patch({ tenantId: newId() })).toMatchObject({ statusCode: 400, code: 'TENANT_FIXED' });
    expect(await patch({ username: null })).toMatchObject({ statusCode: 400 });
    expect(await patch({ role: null })).toMatchObject({ statusCode: 400 });
  });

  it('returns every account once through Link and cursor and keeps the filters', async () => {
    const admin = await make.user({ role: 'ADMIN' });
    for (let n = 0; n < 5; n += 1) await make.user({ tenantId: admin.tenantId, displayName: 'Seite' });
    const seen: string[] = [];
    let url = '/users?limit=2&search=Seite';
    for (let page = 0; page < 3; page += 1) {
      const answer = await request({ url, as: admin });
      expect(answer.headers['x-total-count']).toBe('5');
      seen.push(...answer.json<{ id: string }[]>().map(({ id }) => id));
      const next = /<([^>]+)>; rel="next"/.exec(String(answer.headers['link'] ?? ''))?.[1];
      if (page < 2) expect(next).toMatch(/^\/users\?.*search=Seite/);
      else expect(next).toBeUndefined();
      url = next ?? '';
    }
    expect(new Set(seen).size).toBe(5);
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=x',
      'cursor=rubbish',
      'role=ROOT',
      'isActive=maybe',
      'tenantId=x',
    ]) {
      expect([query, (await request({ url: `/users?${query}`, as: admin })).statusCode]).toEqual([query, 400]);
    }
  });

  it('answers 403 to an ADMIN who names another tenant, whether it exists or not', async () => {
    const admin = await make.user({ role: 'ADMIN' });
    const elsewhere = await make.tenant();
    for (const tenantId of [elsewhere.id, newId()]) {
      expect((await request({ url: `/users?tenantId=${tenantId}`, as: admin })).statusCode).toBe(403);
      expect(
        (await request({ method: 'POST', url: '/users', as: admin, payload: { username: 'x', tenantId } })).statusCode,
      ).toBe(403);
    }
    const boss = await make.user({ role: 'SUPER_ADMIN' });
    expect((await request({ url: `/users?tenantId=${newId()}`, as: boss })).statusCode).toBe(404);
  });

  it('returns a temporary password once, with or without a body', async () => {
    const admin = await make.user({ role: 'ADMIN' });
    const user = await make.user({ tenantId: admin.tenantId });
    const made = await request({ method: 'POST', url: `/users/${user.id}/reset-password`, as: admin });
    expect(made.json()).toEqual({ temporaryPassword: expect.stringMatching(/^[\w-]{19}$/) });
    const given = await request({
      method: 'POST',
      url: `/users/${user.id}/reset-password`,
      as: admin,
      payload: { newPassword: 'correct horse battery' },
    });
    expect([given.statusCode, given.json()]).toEqual([200, {}]);
    expect((await request({ method: 'POST', url: `/users/${admin.id}/reset-password`, as: admin })).statusCode).toBe(
      403,
    );
  });
});

describe('/tenants and /audit-log', () => {
  it('let a SUPER_ADMIN manage tenants and read what was done', async () => {
    const boss = await make.user({ role: 'SUPER_ADMIN' });
    const name = `Werke ${newId()}`;
    const created = await request({ method: 'POST', url: '/tenants', as: boss, payload: { name } });
    expect([created.statusCode, created.json()]).toEqual([
      201,
      { id: expect.any(String), name, isActive: true, userCount: 0, createdAt: expect.stringMatching(/Z$/) },
    ]);
    const { id } = created.json<{ id: string }>();
    expect(
      (await request({ method: 'POST', url: '/tenants', as: boss, payload: { name: name.toUpperCase() } })).json(),
    ).toMatchObject({ statusCode: 409, code: 'TENANT_NAME_TAKEN' });
    expect(
      (
        await request({ method: 'PATCH', url: `/tenants/${boss.tenantId}`, as: boss, payload: { isActive: false } })
      ).json(),
    ).toMatchObject({ statusCode: 409, code: 'OWN_TENANT' });
    await make.user({ tenantId: id });
    expect((await request({ method: 'DELETE', url: `/tenants/${id}`, as: boss })).json()).toMatchObject({
      statusCode: 409,
      code: 'TENANT_HAS_ACTIVE_USERS',
    });
    expect((await request({ method: 'POST', url: '/tenants', as: boss, payload: { name: '  ' } })).statusCode).toBe(
      400,
    );
    const log = await request({ url: `/audit-log?action=tenants.create&actorId=${boss.id}`, as: boss });
    expect(log.json()).toMatchObject([
      {
        action: 'tenants.create',
        actorId: boss.id,
        actorName: boss.username,
        targetType: 'tenant',
        targetId: id,
        ip: '127.0.0.1',
      },
    ]);
    const inTenant = (tenantId: string, as = boss) => request({ url: `/audit-log?tenantId=${tenantId}`, as });
    expect((await inTenant(id)).json()).toMatchObject([{ action: 'tenants.create', targetId: id }]);
    expect((await inTenant(boss.tenantId)).json()).not.toContainEqual(expect.objectContaining({ targetId: id }));
    expect((await inTenant(newId())).statusCode).toBe(404);
    const admin = await make.user({ role: 'ADMIN' });
    expect((await inTenant(admin.tenantId, admin)).statusCode).toBe(200);
    expect((await inTenant(boss.tenantId, admin)).json()).toMatchObject({ statusCode: 403 });
    for (const query of ['action=nonsense', 'from=yesterday', 'actorId=x', 'cursor=e30']) {
      expect([query, (await request({ url: `/audit-log?${query}`, as: boss })).statusCode]).toEqual([query, 400]);
    }
  });
});
