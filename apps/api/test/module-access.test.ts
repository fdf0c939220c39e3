import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeAccess, needs, type Role } from '@portal/domain/access';
import { GrantLevel, type ModuleKey, modules, type NeededLevel } from '@portal/domain/modules/modules';
import { testRuntime } from '@portal/testing/runtime';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import { buildApp } from '../src/app.ts';
import { errorCodesOf } from '../src/openapi/error-answers.ts';
import { testApp } from '../testing/app.ts';

const addressOf = (key: string, level: NeededLevel) => `/test/${key}/${level}`;
const gates = modules.flatMap(({ key }) => GrantLevel.options.map((level) => ({ key, level })));

const { app, request, make, cookieOf } = await testApp({
  routes: (added) => {
    const forAdmins = modules.map(({ key }) => ({ key, level: 'ADMIN' as const }));
    for (const { key, level } of [...gates, ...forAdmins]) {
      added.post(
        addressOf(key, level),
        { config: { access: needs(key, level) }, schema: { body: z.object({ name: z.string() }) } },
        () => Promise.resolve({ passed: true }),
      );
    }
  },
});

type Account = Awaited<ReturnType<typeof make.user>>;

/** An administrator and another account of a new tenant. */
async function tenant(role: Role = 'USER') {
  const admin = await make.user({ role: 'ADMIN' });
  return { admin, user: await make.user({ tenantId: admin.tenantId, role }) };
}

async function change(admin: Account, method: 'PUT' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) {
  const answer = await request({ method, url, as: admin, ...(payload && { payload }) });
  expect(answer.statusCode).toBeLessThan(300);
  return answer;
}
const grant = (admin: Account, subject: object, moduleKey: string, level: GrantLevel) =>
  change(admin, 'PUT', '/module-grants', { subjectType: 'user', ...subject, moduleKey, level });

/** The guard's answer to a session: `200`, or the status and code of the refusal. */
async function knock(cookie: string, { key, level }: { key: ModuleKey; level: NeededLevel }): Promise<string> {
  const answer = await app.inject({
    method: 'POST',
    url: addressOf(key, level),
    headers: { cookie },
    payload: { name: 'x' },
  });
  return answer.statusCode === 200 ? '200' : `${answer.statusCode} ${answer.json<{ code: string }>().code}`;
}

describe.each(gates)('a route that needs $level of $key', (gate) => {
  const isManage = gate.level === 'MANAGE';

  it('passes accounts with that level, from the next request after a grant until its removal', async () => {
    const { admin, user } = await tenant();
    const cookie = await cookieOf(user);
    expect(await knock(cookie, gate)).toBe('403 MODULE_ACCESS_DENIED');
    await grant(admin, { subjectId: user.id }, gate.key, 'USE');
    expect(await knock(cookie, gate)).toBe(isManage ? '403 MANAGE_REQUIRED' : '200');
    await grant(admin, { subjectId: user.id }, gate.key, 'MANAGE');
    expect(await knock(cookie, gate)).toBe('200');
    await change(admin, 'DELETE', `/module-grants?subjectType=user&subjectId=${user.id}&moduleKey=${gate.key}`);
    expect(await knock(cookie, gate)).toBe('403 MODULE_ACCESS_DENIED');
  });

  it('follows changes of groups and members at once', async () => {
    const { admin, user } = await tenant();
    const cookie = await cookieOf(user);
    const { id } = (await change(admin, 'POST', '/groups', { internalName: 'Schicht' })).json<{ id: string }>();
    await grant(admin, { subjectType: 'group', subjectId: id }, gate.key, gate.level);
    expect(await knock(cookie, gate)).toBe('403 MODULE_ACCESS_DENIED');
    await change(admin, 'PUT', `/groups/${id}/members`, { userIds: [user.id] });
    expect(await knock(cookie, gate)).toBe('200');
    await change(admin, 'PUT', `/groups/${id}/members`, { userIds: [] });
    expect(await knock(cookie, gate)).toBe('403 MODULE_ACCESS_DENIED');
  });

  it('is closed to all accounts while the module is off', async () => {
    const { admin, user } = await tenant();
    await grant(admin, { subjectId: user.id }, gate.key, 'MANAGE');
    const cookies = await Promise.all([admin, user].map(cookieOf));
    await change(admin, 'PATCH', `/modules/${gate.key}`, { enabled: false });
    for (const cookie of cookies) expect(await knock(cookie, gate)).toBe('403 MODULE_DISABLED');
    await change(admin, 'PATCH', `/modules/${gate.key}`, { enabled: true });
    for (const cookie of cookies) expect(await knock(cookie, gate)).toBe('200');
  });
});

describe('every route that needs a module', () => {
  // HEAD is answered like GET, but without a body to check.
  const routes = app.routeList.filter(({ method, config }) => method !== 'HEAD' && config.access.kind === 'module');

  it('is open to administrators without a grant, and ignores grants of other modules and tenants', async () => {
    const { admin, user } = await tenant();
    const elsewhere = await tenant();
    for (const { key } of modules) await grant(elsewhere.admin, { subjectId: elsewhere.user.id }, key, 'MANAGE');
    await grant(admin, { subjectId: user.id }, 'calendar', 'MANAGE');
    const [ofAdmin, ofSuperAdmin, ofUser] = await Promise.all(
      [admin, await make.user({ role: 'SUPER_ADMIN' }), user].map(cookieOf),
    );
    for (const gate of gates) {
      expect(await knock(ofAdmin ?? '', gate)).toBe('200');
      expect(await knock(ofSuperAdmin ?? '', gate)).toBe('200');
      expect(await knock(ofUser ?? '', gate)).toBe(gate.key === 'calendar' ? '200' : '403 MODULE_ACCESS_DENIED');
    }
  });

  it('only for administrators is closed to all grants, and to all accounts while the module is off', async () => {
    const { admin, user } = await tenant();
    const [ofAdmin = '', ofUser = '', ofSuperAdmin = ''] = await Promise.all(
      [admin, user, await make.user({ role: 'SUPER_ADMIN', tenantId: admin.tenantId })].map(cookieOf),
    );
    for (const { key } of modules) {
      const gate = { key, level: 'ADMIN' as const };
      await grant(admin, { subjectId: user.id }, key, 'MANAGE');
      expect([await knock(ofAdmin, gate), await knock(ofSuperAdmin, gate)]).toEqual(['200', '200']);
      expect(await knock(ofUser, gate)).toBe('403 FORBIDDEN');
      await change(admin, 'PATCH', `/modules/${key}`, { enabled: false });
      for (const cookie of [ofAdmin, ofSuperAdmin, ofUser])
        expect(await knock(cookie, gate)).toBe('403 MODULE_DISABLED');
    }
  });

  it('checks first the session, then the forced change, then the grant, all before the body', async () => {
    const { user } = await tenant();
    const forced = await make.user({ mustChangePassword: true });
    expect(routes.length).toBeGreaterThanOrEqual(gates.length);
    for (const { method, url, config } of routes) {
      const isForAdmins = config.access.kind === 'module' && config.access.level === 'ADMIN';
      const ask = async (as?: Account) => {
        const answer = await request({
          method,
          url,
          ...(as && { as }),
          headers: { 'content-type': 'text/plain' },
          payload: 'x'.repeat(2 * 1024 * 1024),
        });
        return `${answer.statusCode} ${answer.json<{ code: string }>().code}`;
      };
      expect(await ask()).toBe('401 UNAUTHENTICATED');
      expect(await ask(forced)).toBe('403 PASSWORD_CHANGE_REQUIRED');
      expect(await ask(user)).toBe(isForAdmins ? '403 FORBIDDEN' : '403 MODULE_ACCESS_DENIED');
    }
  });

  it('shows its refusals in the document', () => {
    const refusalsOf = (level: NeededLevel) =>
      errorCodesOf({ method: 'POST', url: '/', schema: {}, config: { access: needs('calendar', level) } })
        .get(403)
        ?.filter((code) => !['ORIGIN_NOT_ALLOWED', 'PASSWORD_CHANGE_REQUIRED'].includes(code));
    expect(refusalsOf('USE')).toEqual(['MODULE_DISABLED', 'MODULE_ACCESS_DENIED']);
    expect(refusalsOf('MANAGE')).toEqual(['MODULE_DISABLED', 'MODULE_ACCESS_DENIED', 'MANAGE_REQUIRED']);
    expect(refusalsOf('ADMIN')).toEqual(['FORBIDDEN', 'MODULE_DISABLED']);
  });

  it('is in the list of who may call what', () => {
    expect(routes.map(({ config }) => describeAccess(config.access))).toEqual(
      expect.arrayContaining(['use:calendar', 'manage:cloud-status', 'admin:merchandise-export']),
    );
  });
});

it('needs one more prepared statement, and other routes none', async () => {
  const { runtime, make: builders } = await testRuntime();
  const statements: string[] = [];
  const counted = await buildApp({
    ...runtime,
    system(origin) {
      const system = runtime.system(origin);
      const inTenant: typeof system.inTenant = (tenantId) => {
        const scope = system.inTenant(tenantId);
        return {
          ...scope,
          run: (statement, params) => {
            statements.push(statement.name);
            return scope.run(statement, params);
          },
        };
      };
      const runInNoTenant: typeof system.runInNoTenant = (statement, params) => {
        statements.push(statement.name);
        return system.runInNoTenant(statement, params);
      };
      return { ...system, inTenant, runInNoTenant };
    },
  });
  counted.get('/test', { config: { access: needs('calendar', 'USE') } }, () => Promise.resolve({}));
  const admin = await builders.user({ role: 'ADMIN' });
  const session = await builders.session(admin);
  const token = sessionTokens(runtime).issue({ sub: admin.id, tid: admin.tenantId, sid: session.id, ver: 1 });
  const statementsFor = async (url: string) => {
    statements.length = 0;
    const { statusCode } = await counted.inject({ url, headers: { cookie: `portal_session=${token}` } });
    return { statusCode, statements: [...statements] };
  };
  expect(await statementsFor('/auth/me')).toEqual({ statusCode: 200, statements: ['account_of_session'] });
  expect(await statementsFor('/test')).toEqual({
    statusCode: 200,
    statements: ['account_of_session', 'module_standing'],
  });
  await counted.close();
});
