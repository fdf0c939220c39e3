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

/** Who may call what, as it was reviewed: by `GET /users`, `ADMIN`. */
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

/** What somebody signed in is told where this is needed: `ADMIN`, `use:calendar`. */
type Told = (needed: string) => string;
const asUser: Told = (needed) => (needed === 'signed in' ? passes : '403 FORBIDDEN');
const moduleOf = (needed: string) => /^(use|manage|admin):(.+)$/.exec(needed);

/** A user with these grants. */
const granted =
  (levelOf: (module: string) => GrantLevel | null): Told =>
  (needed) => {
    const [, level, module = ''] = moduleOf(needed) ?? [];
    if (level === undefined) return asUser(needed);
    if (level === 'admin') return '403 FORBIDDEN';
    const held = levelOf(module);
    if (held === null) return '403 MODULE_ACCESS_DENIED';
    return level === 'manage' && held === 'USE' ? '403 MANAGE_REQUIRED' : passes;
  };
const administrator: Told = (needed) => (moduleOf(needed) || needed === 'ADMIN' ? passes : asUser(needed));

interface Principal {
  name: string;
  cookie?: string;
  told: (needed: string, route: string) => string;
  /** Asked about this module alone: elsewhere they stand like others. */
  module?: ModuleKey;
}

type Levels = Partial<Record<ModuleKey, GrantLevel>>;

/** One of each standing. */
async function everybody(): Promise<Principal[]> {
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
  const one = async (name: string, account: Parameters<typeof cookieOf>[0], told: Principal['told']) => ({
    name,
    told,
    cookie: await cookieOf(account),
  });
  const openDuringForcedChange = ['POST /auth/change-password', 'POST /auth/logout', 'GET /auth/me'];
  return [
    { name: 'nobody', told: () => noSession },
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

/** What the gate of a route says. A body of no known type keeps whoever passes from going on. */
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

/** What of a route’s answers differs from the reviewed list; at most one difference if that is enough. */
async function differences(server: App, route: Route, people: Principal[], most = Infinity): Promise<string[]> {
  const needed = reviewed.get(nameOf(route)) ?? 'is not in the list';
  const found: string[] = [];
  for (const who of people) {
    if (found.length >= most) break;
    if (who.module !== undefined && who.module !== moduleOf(needed)?.[2]) continue;
    const expected = needed.startsWith('open (') ? passes : who.told(needed, nameOf(route));
    const said = await knock(server, route, who);
    if (said !== expected) found.push(`${nameOf(route)} by ${who.name}: ${said} instead of ${expected}`);
  }
  return found;
}

/** The differences of every route. Whoever has signed out is somebody else from then on. */
async function compare(server: App, asked: Route[], most?: number): Promise<Map<Route, string[]>> {
  const found = new Map<Route, string[]>();
  let people = await everybody();
  for (const route of asked) {
    found.set(route, await differences(server, route, people, most));
    if (route.url.startsWith('/auth/logout')) people = await everybody();
  }
  return found;
}

it('every route answers everybody as the reviewed list says', async () => {
  expect(routes.map(nameOf).toSorted()).toEqual([...reviewed.keys()].toSorted());
  expect([...(await compare(app, routes)).values()].flat()).toEqual([]);
});

/** What a marker may be mistaken for; null where that would say the same. */
const mistakes: Record<string, (access: Access) => Access | null> = {
  'one that is open': (access) => (access.kind === 'open' ? null : open('a test says so')),
  'one of whoever is signed in': (access) => (access.kind === 'signedIn' ? null : signedIn),
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

it.each(Object.entries(mistakes))('a marker mistaken for %s is noticed, whichever it is', async (_, mistake) => {
  const taken: string[] = [];
  const exchange = (message: unknown) =>
    (message as { fastify: App }).fastify.addHook('onRoute', function (route) {
      const access = route.config?.access ?? this.accessOfPluginRoutes;
      const other = access && mistake(access);
      if (!other || describeAccess(other) === describeAccess(access)) return;
      route.config = { ...route.config, access: other };
      taken.push(`${String(route.method)} ${route.url}`);
    });
  subscribe('fastify.initialization', exchange);
  const mistaken = await buildApp(runtime);
  await mistaken.ready();
  unsubscribe('fastify.initialization', exchange);
  afterAll(() => mistaken.close());

  const asked = routes.filter((route) => taken.includes(nameOf(route)));
  expect(asked.length).toBeGreaterThan(2);
  const unnoticed = [...(await compare(mistaken, asked, 1))].filter(([, found]) => found.length === 0);
  expect(unnoticed.map(([route]) => nameOf(route))).toEqual([]);
});
