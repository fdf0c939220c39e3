import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { newId } from '@portal/domain/ids';
import { type Config, readConfig } from '@portal/platform/config';
import type { UserContext } from '@portal/platform/context';
import { openLog } from '@portal/platform/log';
import { openRuntime, type Origin } from '@portal/platform/runtime';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import { testDatabase } from './database.ts';
import { builders } from './make.ts';
import { noSources } from './no-sources.ts';
import { queueSettings } from './test-matrix.ts';

// Throw-away keys: 32 zero bytes and 32 one bytes.
const zeros = Buffer.alloc(32).toString('base64');
const ones = Buffer.alloc(32, 1).toString('base64');

/** Settings for tests on the database at `url`; `env` overrides them. */
export const testConfig = (url: string, env: Record<string, string> = {}): Config =>
  readConfig({
    DATABASE_URL: url,
    DATABASE_POOL_MAX: '5',
    SESSION_SECRET: `test:${zeros}`,
    SECRETS_KEYS: `test:${ones}`,
    LOG_LEVEL: 'silent',
    PORT: '3000',
    ...noSources,
    ...queueSettings(url),
    ...env,
  });

const origin = (overrides: Partial<Origin> = {}): Origin => ({
  requestId: newId(),
  ip: '192.0.2.1',
  userAgent: 'test',
  ...overrides,
});

/** The real runtime on a database for the calling file, and contexts of the accounts a test needs. */
export async function testRuntime(env: Record<string, string> = {}) {
  const { url, ownerUrl } = await testDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'portal-test-files-'));
  afterAll(() => rm(dataDir, { recursive: true, force: true }));
  const config = testConfig(url, { DATA_DIR: dataDir, ...env });
  const runtime = openRuntime(config, { process: 'script', log: openLog('silent', 'script') });
  afterAll(() => runtime.close());
  const make = builders(runtime.database);

  /** Signs in an account with a new session, and authenticates its token as a request does. */
  async function signedIn(
    user: { id: string; tenantId: string; sessionVersion?: number | undefined },
    from: Partial<Origin> = {},
  ): Promise<UserContext> {
    const session = await make.session(user);
    const system = runtime.system(origin(from));
    const token = sessionTokens(system).issue({
      sub: user.id,
      tid: user.tenantId,
      sid: session.id,
      ver: user.sessionVersion ?? 1,
    });
    return authenticate(system, token);
  }

  return {
    url,
    ownerUrl,
    config,
    runtime,
    make,
    system: (from: Partial<Origin> = {}) => runtime.system(origin(from)),
    signedIn,
  };
}
