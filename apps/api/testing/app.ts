import type { InjectOptions } from 'fastify';
import { afterAll } from 'vitest';
import { openLog } from '@portal/platform/log';
import { testRuntime } from '@portal/testing/runtime';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import { buildApp } from '../src/app.ts';
import { sessionCookieName } from '../src/session-cookie.ts';
import type { App } from '../src/zod-app.ts';

export interface TestAppOptions {
  /** Settings in addition to those of every test, as environment variables. */
  env?: Record<string, string>;
  /** Routes only for this test. */
  routes?: (app: App) => void;
}

type Account = { id: string; tenantId: string; sessionVersion?: number | undefined };

export interface TestRequest extends Pick<InjectOptions, 'method' | 'payload' | 'query' | 'remoteAddress'> {
  url: string;
  headers?: Record<string, string>;
  /** The account that sends the request, with a new session each time; without it the request has no session. */
  as?: Account;
}

/** The real app on the calling test file's own database. */
export async function testApp(options: TestAppOptions = {}) {
  const { runtime, make, url, ownerUrl, config, signedIn } = await testRuntime(options.env);
  const lines: Record<string, unknown>[] = [];
  const log = openLog('info', 'api', { write: (line) => void lines.push(JSON.parse(line)) });
  const app = await buildApp({ ...runtime, log });
  options.routes?.(app);
  await app.ready();
  afterAll(() => app.close());

  /** A cookie header with a new session of this account. */
  async function cookieOf(account: Account): Promise<string> {
    const session = await make.session(account);
    const token = sessionTokens(runtime).issue({
      sub: account.id,
      tid: account.tenantId,
      sid: session.id,
      ver: account.sessionVersion ?? 1,
    });
    return `${sessionCookieName(config)}=${token}`;
  }

  async function request({ as, headers, ...rest }: TestRequest) {
    return app.inject({ ...rest, headers: { ...headers, ...(as && { cookie: await cookieOf(as) }) } });
  }

  return { app, runtime, make, url, ownerUrl, config, signedIn, request, cookieOf, logLines: lines };
}
