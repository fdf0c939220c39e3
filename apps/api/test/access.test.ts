import { describe, expect, it } from 'vitest';
import { describeAccess, hasRole, open, role, type Role, signedIn } from '@portal/domain/access';
import { testRuntime } from '@portal/testing/runtime';
import { buildApp } from '../src/app.ts';
import { markPluginRoutes } from '../src/plugins/access.ts';
import type { App } from '../src/zod-app.ts';
import { testApp } from '../testing/app.ts';
import { addressOf, methodOf } from './every-route.ts';

const { app, request, make } = await testApp();
const routes = app.routeList;

const account = (accountRole: Role, overrides: { mustChangePassword?: boolean } = {}) =>
  make.user({ role: accountRole, ...overrides });

describe('every route', () => {
  it('is in the reviewed list of who may call what', async () => {
    const lines = routes
      .filter(({ method }) => method !== 'HEAD')
      .map(({ method, url, config }) => `${method} ${url} ${describeAccess(config.access)}\n`)
      .toSorted((a, b) => (a.split(' ')[1] ?? '').localeCompare(b.split(' ')[1] ?? '') || a.localeCompare(b));
    await expect(lines.join('')).toMatchFileSnapshot('access.txt');
  });

  it('has the same guard for HEAD and GET', () => {
    for (const head of routes.filter(({ method }) => method === 'HEAD')) {
      expect(routes.find(({ method, url }) => method === 'GET' && url === head.url)?.config.access).toBe(
        head.config.access,
      );
    }
  });

  it('that is not open answers 401 without a valid session', async () => {
    for (const route of routes.filter(({ config }) => config.access.kind !== 'open')) {
      for (const cookie of ['', 'portal_session=', 'portal_session=a.b.c', 'portal_session=%00', '=;=;', 'session=1']) {
        const answer = await request({ method: methodOf(route), url: addressOf(route.url), headers: { cookie } });
        expect({ route, status: answer.statusCode }).toEqual({ route, status: 401 });
        if (route.method !== 'HEAD') expect(answer.json()).toMatchObject({ statusCode: 401, code: 'UNAUTHENTICATED' });
      }
    }
  });

  it('that is not open answers 401 to an ended session and to an inactive account or tenant', async () => {
    const user = await account('SUPER_ADMIN');
    const inactive = await make.user({ role: 'SUPER_ADMIN', isActive: false });
    const inTenantOff = await make.user({ role: 'SUPER_ADMIN', tenantId: (await make.tenant({ isActive: false })).id });
    const elsewhere = { ...user, tenantId: (await make.tenant()).id };
    for (const as of [{ ...user, sessionVersion: 7 }, inactive, inTenantOff]) {
      for (const route of routes.filter(({ config }) => config.access.kind !== 'open')) {
        const answer = await request({ method: methodOf(route), url: addressOf(route.url), as });
        expect({ route, status: answer.statusCode }).toEqual({ route, status: 401 });
      }
    }
    // The database refuses a session row for an account of another tenant.
    await expect(request({ url: '/auth/me', as: elsewhere })).rejects.toThrow(/foreign key|Failed query/);
  });

  it.each<Role>(['USER', 'ADMIN'])(
    'that needs more than %s answers 403 to one before it reads the body',
    async (lesser) => {
      const as = await account(lesser);
      for (const route of routes) {
        const { access } = route.config;
        if (access.kind !== 'role' || hasRole(lesser, access.role)) continue;
        const answer = await request({
          method: methodOf(route),
          url: addressOf(route.url),
          as,
          headers: { 'content-type': 'text/plain' },
          ...(route.schema?.body !== undefined && { payload: 'x'.repeat(2 * 1024 * 1024) }),
        });
        expect({ route, status: answer.statusCode }).toEqual({ route, status: 403 });
        if (route.method !== 'HEAD') expect(answer.json()).toMatchObject({ code: 'FORBIDDEN' });
      }
    },
  );

  it('except three answers 403 while the password must be changed, before the role check', async () => {
    const as = await account('USER', { mustChangePassword: true });
    const openDuringForcedChange = new Set(['POST /auth/change-password', 'POST /auth/logout', 'GET /auth/me']);
    for (const route of routes.filter(({ config }) => config.access.kind !== 'open')) {
      const answer = await request({ method: methodOf(route), url: addressOf(route.url), as });
      if (openDuringForcedChange.has(`${route.method} ${route.url}`)) {
        expect(answer.statusCode).not.toBe(403);
      } else {
        expect({ route, status: answer.statusCode }).toEqual({ route, status: 403 });
        if (route.method !== 'HEAD') expect(answer.json()).toMatchObject({ code: 'PASSWORD_CHANGE_REQUIRED' });
      }
    }
  });
});

describe('a route without an access marker', async () => {
  const { runtime } = await testRuntime();
  const handler = () => Promise.resolve({});

  /** Starts a server with additional routes. */
  async function start(add: (added: App) => void): Promise<App> {
    const added = await buildApp(runtime);
    add(added);
    await added.ready();
    return added;
  }

  it.each<[string, (added: App) => void]>([
    ['at the root', (added) => added.get('/unmarked', handler)],
    [
      'with other configuration',
      (added) => added.route({ method: 'POST', url: '/unmarked', config: {} as never, handler }),
    ],
    ['in a plugin', (added) => added.register(async (inner) => inner.get('/unmarked', handler))],
    [
      'in a plugin of a plugin',
      (added) =>
        added.register(async (inner) =>
          inner.register(async (innermost) => innermost.get('/unmarked', handler), { prefix: '/deep' }),
        ),
    ],
    [
      'beside a marked plugin',
      (added) => {
        added.register(async (inner) => markPluginRoutes(inner as unknown as App, signedIn));
        added.register(async (inner) => inner.get('/unmarked', handler));
      },
    ],
  ])('%s prevents the server from starting', async (_place, add) => {
    await expect(start(add)).rejects.toThrow(/unmarked does not say who may call it/);
  });

  it('takes the access of its plugin', async () => {
    const marked = await start((added) => {
      added.register(
        async (inner) => {
          markPluginRoutes(inner, role('SUPER_ADMIN'));
          inner.get('/queues', handler);
          await inner.register(async (innermost) => innermost.get('/static/*', handler));
          inner.get('/health', { config: { access: open('a test says so') } }, handler);
        },
        { prefix: '/board' },
      );
    });
    for (const url of ['/board/queues', '/board/static/a.js']) expect((await marked.inject(url)).statusCode).toBe(401);
    expect((await marked.inject('/board/health')).statusCode).toBe(200);
    await marked.close();
  });

  it('cannot read a signed-in account if it is open', async () => {
    const opened = await start((added) => {
      added.get('/peek', { config: { access: open('a test says so') } }, (asked) => Promise.resolve(asked.ctx.actor));
    });
    expect((await opened.inject('/peek')).statusCode).toBe(500);
    await opened.close();
  });
});
