import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { disabledModules, moduleGrants } from '@portal/db/schema/modules';
import { type Access, describeAccess, needs, open, role, signedIn } from '@portal/domain/access';
import { newId } from '@portal/domain/ids';
import { type GrantLevel, type ModuleKey, modules } from '@portal/domain/modules/modules';
import { buildApp } from '../src/app.ts';
import type { App } from '../src/zod-app.ts';
import { testApp } from '../testing/app.ts';
import { addressOf, methodOf } from './every-route.ts';

const { app, make, runtime, cookieOf } = await testApp();

/** The reviewed list of who may call what: `GET /users` → `ADMIN`. */
const reviewed = new Map(
  (await readFile(join(import.meta.dirname, 'access.txt'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => [line.split(' ', 2).join(' '), line.split(' ').slice(2).join(' ')] as const),
);
type Route = App['routeList'][number];
const routes = app.routeList.filter(({ method }) => method !== 'HEAD');
const nameOf = ({ method, url }: Pick<Route, 'method' | 'url'>) => `${method} ${url}`;

const passes = 'passes';
const noSession = '401 UNAUTHENTICATED';
const refusals = new Set([
  noSession,
  ...['PASSWORD_CHANGE_REQUIRED', 'FORBIDDEN', 'MODULE_DISABLED', 'MODULE_ACCESS_DENIED', 'MANAGE_REQUIRED'].map(
    (code) => `403 ${code}`,
  ),
]);

/** The expected answer to a signed-in account for a required right: `ADMIN`, `use:calendar`. */
type Expectation = (needed: string) => string;
const asUser: Expectation = (needed) => (needed === 'signed in' ? passes : '403 FORBIDDEN');
const moduleOf = (needed: string) => /^(use|manage|admin):(.+)$/.exec(needed);

/** A user with these grants. */
const granted =
  (levelOf: (module: string) => GrantLevel | null): Expectation =>
  (needed) => {
    const [, level, module = ''] = moduleOf(needed) ?? [];
    if (level === undefined) return asUser(needed);
    if (level === 'admin') return '403 FORBIDDEN';
    const held = levelOf(module);
    if (held === null) return '403 MODULE_ACCESS_DENIED';
    return level === 'manage' && held === 'USE' ? '403 MANAGE_REQUIRED' : passes;
  };
const administrator: Expectation = (needed) => (moduleOf(needed) || needed === 'ADMIN' ? passes : asUser(needed));

interface Principal {
  name: string;
  cookie?: string;
  expected: (needed: string, route: string) => string;
  /** Checked only for routes of this module; elsewhere this principal is like others. */
  module?: ModuleKey;
}

type Levels = Partial<Record<ModuleKey, GrantLevel>>;

/** One principal of each kind. */
async function allPrincipals(): Promise<Principal[]> {
  const { tenantId } = await make.user();
  const keys = modules.map(({ key }) => key);
  const levels = (level: GrantLevel, ...but: ModuleKey[]): Levels =>
    Object.fromEntries(keys.filter((key) => !but.includes(key)).map((key) => [key, level]));
  async function holding(held: Levels) {
    const user = await make.user({ tenantId });
    const rows = Object.entries(held).map(([moduleKey, level]) => ({
      id: newId(),
      tenantId,
      userId: user.id,
      moduleKey,
      level,
    }));
    await runtime.database.inTenant(tenantId).tx((tx) => tx.insert(moduleGrants).values(rows));
    return user;
  }
  async function administratorWithout(moduleKey: ModuleKey) {
    const account = await make.user({ role: 'ADMIN' });
    const row = { tenantId: account.tenantId, moduleKey };
    await runtime.database.inTenant(account.tenantId).tx((tx) => tx.insert(disabledModules).values(row));
    return account;
  }
  const one = async (name: string, account: Parameters<typeof cookieOf>[0], expected: Principal['expected']) => ({
    name,
    expected,
    cookie: await cookieOf(account),
  });
  const openDuringForcedChange = ['POST /auth/change-password', 'POST /auth/logout', 'GET /auth/me'];
  return [
    { name: 'a caller without a session', expected: () => noSession },
    await one(
      'a user',
      await make.user({ tenantId }),
      granted(() => null),
    ),
    await one(
      'a user who may use every module',
      await holding(levels('USE')),
      granted(() => 'USE'),
    ),
    await one(
      'a user who may manage every module',
      await holding(levels('MANAGE')),
      granted(() => 'MANAGE'),
    ),
    await one('an administrator', await make.user({ tenantId, role: 'ADMIN' }), administrator),
    await one('an operator', await make.user({ tenantId, role: 'SUPER_ADMIN' }), () => passes),
    await one(
      'an operator who must change the password',
      await make.user({ tenantId, role: 'SUPER_ADMIN', mustChangePassword: true }),
      (_, route) => (openDuringForcedChange.includes(route) ? passes : '403 PASSWORD_CHANGE_REQUIRED'),
    ),
    ...(await Promise.all(
      keys.flatMap((module) => [
        holding(levels('MANAGE', module)).then(async (account) => ({
          ...(await one(
            `a user without ${module}`,
            account,
            granted((key) => (key === module ? null : 'MANAGE')),
          )),
          module,
        })),
        administratorWithout(module).then(async (account) => ({
          ...(await one(`an administrator without ${module}`, account, () => '403 MODULE_DISABLED')),
          module,
        })),
      ]),
    )),
  ];
}

/** The answer of a route's guard. The unknown body type stops a request that passes the guard. */
async function knock(server: App, route: Route, { cookie }: Principal): Promise<string> {
  const answer = await server.inject({
    method: methodOf(route),
    url: addressOf(route.url),
    headers: {
      ...(cookie !== undefined && { cookie }),
      ...(route.schema?.body !== undefined && { 'content-type': 'text/x' }),
    },
    ...(route.schema?.body !== undefined && { payload: 'x' }),
  });
  const code = /"code":"(\w+)"/.exec(answer.body)?.[1] ?? '';
  return refusals.has(`${answer.statusCode} ${code}`) ? `${answer.statusCode} ${code}` : passes;
}

/** The answers of a route that differ from the reviewed list, at most `max`. */
async function differences(server: App, route: Route, people: Principal[], max = Infinity): Promise<string[]> {
  const needed = reviewed.get(nameOf(route)) ?? 'is not in the list';
  const found: string[] = [];
  for (const who of people) {
    if (found.length >= max) break;
    if (who.module !== undefined && who.module !== moduleOf(needed)?.[2]) continue;
    const expected = needed.startsWith('open (') ? passes : who.expected(needed, nameOf(route));
    const actual = await knock(server, route, who);
    if (actual !== expected) found.push(`${nameOf(route)} by ${who.name}: ${actual} instead of ${expected}`);
  }
  return found;
}

/** The differences of every route. After a sign-out the principals need new sessions. */
async function compare(server: App, asked: Route[], max?: number): Promise<Map<Route, string[]>> {
  const found = new Map<Route, string[]>();
  let people = await allPrincipals();
  for (const route of asked) {
    found.set(route, await differences(server, route, people, max));
    if (route.url.startsWith('/auth/logout')) people = await allPrincipals();
  }
  return found;
}

it('every route answers every principal as the reviewed list says', async () => {
  expect(routes.map(nameOf).toSorted()).toEqual([...reviewed.keys()].toSorted());
  expect([...(await compare(app, routes)).values()].flat()).toEqual([]);
});

/** Wrong markers in place of the right one; null if the mistake does not apply. */
const mistakes: Record<string, (access: Access) => Access | null> = {
  'an open one': (access) => (access.kind === 'open' ? null : open('a test says so')),
  'one for all signed-in accounts': (access) => (access.kind === 'signedIn' ? null : signedIn),
  'one role less': (access) => (access.kind === 'role' ? role(access.role === 'SUPER_ADMIN' ? 'ADMIN' : 'USER') : null),
  'one level less': (access) =>
    access.kind === 'module' && access.level !== 'USE'
      ? needs(access.module, access.level === 'ADMIN' ? 'MANAGE' : 'USE')
      : null,
  'that of another module': (access) =>
    access.kind === 'module' ? needs(access.module === 'calendar' ? 'tender-radar' : 'calendar', access.level) : null,
  'a role for a module': (access) =>
    access.kind === 'module' ? role(access.level === 'ADMIN' ? 'ADMIN' : 'USER') : null,
  'one role more': (access) =>
    access.kind === 'role' && access.role === 'ADMIN'
      ? role('SUPER_ADMIN')
      : access.kind === 'signedIn'
        ? role('ADMIN')
        : null,
  'one level more': (access) =>
    access.kind === 'module' && access.level !== 'ADMIN'
      ? needs(access.module, access.level === 'USE' ? 'MANAGE' : 'ADMIN')
      : null,
};

it.each(Object.entries(mistakes))('the comparison detects every marker replaced by %s', async (_, mistake) => {
  const replaced: string[] = [];
  const exchange = (message: unknown) =>
    (message as { fastify: App }).fastify.addHook('onRoute', function (route) {
      const access = route.config?.access ?? this.accessOfPluginRoutes;
      const other = access && mistake(access);
      if (!other || describeAccess(other) === describeAccess(access)) return;
      route.config = { ...route.config, access: other };
      replaced.push(`${String(route.method)} ${route.url}`);
    });
  subscribe('fastify.initialization', exchange);
  const mistaken = await buildApp(runtime);
  await mistaken.ready();
  unsubscribe('fastify.initialization', exchange);
  afterAll(() => mistaken.close());

  const asked = routes.filter((route) => replaced.includes(nameOf(route)));
  expect(asked.length).toBeGreaterThan(2);
  const unnoticed = [...(await compare(mistaken, asked, 1))].filter(([, found]) => found.length === 0);
  expect(unnoticed.map(([route]) => nameOf(route))).toEqual([]);
});
