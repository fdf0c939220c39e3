import { describe, expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { modules } from '@portal/domain/modules/modules';
import { testApp } from '../../testing/app.ts';

const { make, request } = await testApp();

const admin = await make.user({ role: 'ADMIN' });
const user = await make.user({ tenantId: admin.tenantId });

const send = (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, payload?: object, as = admin) =>
  request({ method, url, as, ...(payload && { payload }) });
const refusal = async (answer: ReturnType<typeof send>) => {
  const { statusCode, json } = await answer;
  return `${statusCode} ${json<{ code: string }>().code}`;
};

describe('the lists of modules', () => {
  it('show the catalog, the tenant’s switches and categories, and the modules the caller may open', async () => {
    const admin = await make.user({ role: 'ADMIN' });
    const user = await make.user({ tenantId: admin.tenantId });
    const catalog = (await request({ url: '/modules/catalog', as: user })).json<object[]>();
    expect(catalog).toEqual(modules);
    expect((await send('PATCH', '/modules/tender-radar', { enabled: false }, admin)).json()).toEqual({
      key: 'tender-radar',
      name: 'Tender radar',
      enabled: false,
      category: 'sales',
    });
    const list = (await request({ url: '/modules', as: user })).json<{ key: string; enabled: boolean }[]>();
    expect(list.map(({ key, enabled }) => [key, enabled])).toEqual(
      modules.map(({ key }) => [key, key !== 'tender-radar']),
    );
    expect((await request({ url: '/modules/active', as: admin })).json()).toHaveLength(7);
    await send('PATCH', '/modules/tender-radar', { enabled: true }, admin);
    expect((await request({ url: '/modules/active', as: admin })).json()).toHaveLength(8);
    expect((await request({ url: '/modules/active', as: user })).json()).toEqual([]);
  });

  it('contain `url` only for custom modules', async () => {
    const as = await make.user({ role: 'ADMIN' });
    await send('POST', '/custom-modules', { name: ' Wiki ', url: 'https://wiki.example.org' }, as);
    const active = (await request({ url: '/modules/active', as })).json<Record<string, unknown>[]>();
    expect(active[0]).not.toHaveProperty('url');
    expect(active.at(-1)).toMatchObject({
      key: expect.stringMatching(/^custom:[0-9a-f-]{36}$/),
      name: 'Wiki',
      url: 'https://wiki.example.org',
      category: 'custom-modules',
      categoryName: 'Custom modules',
    });
  });

  it('answer 404 for unknown modules', async () => {
    for (const key of ['sport', '__proto__', 'Calendar', '%F0%9F%98%80'])
      expect(await refusal(send('PATCH', `/modules/${key}`, { enabled: false }))).toBe('404 NOT_FOUND');
  });
});

describe('grants', () => {
  it('have the level USE by default, and are revoked by the target in the query', async () => {
    const target = { subjectType: 'user', subjectId: user.id, moduleKey: 'calendar' };
    const put = await send('PUT', '/module-grants', target);
    expect([put.statusCode, put.json()]).toEqual([200, { ...target, level: 'USE' }]);
    const matrix = (await request({ url: '/module-grants/matrix', as: admin })).json<{ subjects: object[] }>();
    expect(matrix.subjects).toEqual([{ type: 'user', id: user.id, name: user.username, grants: { calendar: 'USE' } }]);
    const query = new URLSearchParams(target).toString();
    expect((await send('DELETE', `/module-grants?${query}`)).statusCode).toBe(204);
    expect(await refusal(send('DELETE', `/module-grants?${query}`))).toBe('404 NOT_FOUND');
  });

  it.each([
    [{ subjectType: 'role' }, '400 VALIDATION_FAILED'],
    [{ subjectId: 'none' }, '400 VALIDATION_FAILED'],
    [{ level: 'ADMIN' }, '400 VALIDATION_FAILED'],
    [{ level: null }, '400 VALIDATION_FAILED'],
    [{ moduleKey: 'sport' }, '404 NOT_FOUND'],
    [{ subjectId: newId() }, '404 NOT_FOUND'],
    [{ subjectType: 'group' }, '404 NOT_FOUND'],
  ])('answer %j with %s', async (wrong, expected) => {
    const target = { subjectType: 'user', subjectId: user.id, moduleKey: 'calendar', ...wrong };
    expect(await refusal(send('PUT', '/module-grants', target))).toBe(expected);
  });
});

describe('categories', () => {
  it('accept an order as `{keys}` or as a bare array, and a target in the query', async () => {
    const as = await make.user({ role: 'ADMIN' });
    const created = await send('POST', '/module-categories', { name: 'Außendienst' }, as);
    expect([created.statusCode, created.json<{ key: string }>().key]).toEqual([201, 'aussendienst']);
    const keys = ['aussendienst', 'tools', 'sales', 'accounting', 'infrastructure'];
    const orderedBy = async (body: object) =>
      (await send('PUT', '/module-categories/order', body, as)).json<{ key: string }[]>().map(({ key }) => key);
    expect(await orderedBy({ keys: keys.toReversed() })).toEqual([...keys.toReversed(), 'custom-modules']);
    expect(await orderedBy(keys)).toEqual([...keys, 'custom-modules']);
    expect(await refusal(send('PUT', '/module-categories/order', keys.slice(1), as))).toBe('400 VALIDATION_FAILED');
    expect(await refusal(send('PUT', '/module-categories/order', [1], as))).toBe('400 VALIDATION_FAILED');
    expect(await refusal(send('DELETE', '/module-categories/aussendienst', undefined, as))).toBe('409 TARGET_REQUIRED');
    expect(await refusal(send('DELETE', '/module-categories/custom-modules?target=tools', undefined, as))).toBe(
      '409 CONFLICT',
    );
    expect((await send('DELETE', '/module-categories/aussendienst?target=tools', undefined, as)).statusCode).toBe(204);
    expect(await refusal(send('POST', '/module-categories', { name: 'tools' }, as))).toBe('409 CONFLICT');
  });

  it('can be changed only by administrators and read by every user', async () => {
    expect((await request({ url: '/module-categories', as: user })).json()).toHaveLength(5);
    expect(await refusal(send('PATCH', '/module-categories/sales', { name: 'Vertrieb' }, user))).toBe('403 FORBIDDEN');
  });
});

describe('custom modules', () => {
  it.each([
    [{ name: null }, 'name'],
    [{ url: null }, 'url'],
    [{ category: null }, 'category'],
    [{ sortOrder: null }, 'sortOrder'],
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ url: 'http://wiki.example.org' }, 'url'],
    [{ url: 'https://anna:secret@wiki.example.org' }, 'url'],
    [{ category: 'sport' }, 'category'],
    [{ sortOrder: 1.5 }, 'sortOrder'],
    [{ sortOrder: 1e9 }, 'sortOrder'],
  ])('answer 400 to %j, new or changed', async (wrong, path) => {
    const good = { name: 'Wiki', url: 'https://wiki.example.org', category: 'tools' };
    const created = await send('POST', '/custom-modules', good, user);
    expect(created.statusCode).toBe(201);
    const { id } = created.json<{ id: string }>();
    for (const answer of [
      await send('POST', '/custom-modules', { ...good, ...wrong }, user),
      await send('PATCH', `/custom-modules/${id}`, wrong, user),
    ]) {
      expect(answer.statusCode).toBe(400);
      expect(answer.json<{ details: { path: string }[] }>().details[0]?.path).toBe(path);
    }
    expect((await send('PATCH', `/custom-modules/${id}`, {}, user)).json()).toEqual(created.json());
  });
});
