import { ServerFailure } from '@portal/connectors/servers/server-failure';
import {
  type MonitoredServer,
  openServer,
  type ServerSession,
  shortAnswerBytes,
} from '@portal/connectors/servers/server-session';
import { busy, notFound } from '@portal/domain/errors';
import { textOf } from '@portal/domain/monitoring/rows';
import {
  checkedServer,
  checkSecret,
  secretFieldOf,
  type ServerKind,
  type ServerTestInput,
  type ServerTestResult,
} from '@portal/domain/monitoring/servers';
import { SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { callLimits } from '@portal/platform/limits';
import { openSemaphore } from '@portal/platform/semaphore';
import { beginSettingsTest } from '@portal/platform/settings-trial';
import { recordAudit } from './audit.ts';
import { largeAnswersFor } from './large-answers.ts';
import { hasSecretFor, serverWith, type StoredServer, storedServer } from './stored-server.ts';

const inSlot = openSemaphore({
  ...callLimits.serverTests,
  refusal: () => busy('Several servers are already being tested. Please try again in a moment.', 15),
});

const timeoutMs = 18 * SECOND;

/**
 * Tests the settings of a server before they are saved. A blank secret means the stored one of the server `id`. A failure of the server
 * is part of the answer. Throws 404 for an unknown `id`, 400 for a form that does not fit, and 429 after ten tests in a minute.
 */
export async function testServer(ctx: UserContext, { id, ...input }: ServerTestInput): Promise<ServerTestResult> {
  const form = checkedServer(input);
  const stored = id ? await storedFor(ctx, id) : undefined;
  checkSecret(form, hasSecretFor(form, stored));
  return runTest(ctx, stored, form);
}

/** Tests the stored settings of a server. Throws 404, and 429 after ten tests in a minute. */
export async function testStoredServer(ctx: UserContext, id: string): Promise<ServerTestResult> {
  const stored = await storedFor(ctx, id);
  return runTest(ctx, stored, { ...stored, tokenSecret: undefined, password: undefined });
}

async function storedFor(ctx: UserContext, id: string): Promise<StoredServer> {
  const stored = await ctx.read((db) => storedServer(db, id));
  if (!stored) throw notFound();
  return stored;
}

type Form = Omit<ServerTestInput, 'id' | 'name' | 'pollIntervalMin' | 'isActive'>;

async function runTest(ctx: UserContext, stored: StoredServer | undefined, form: Form): Promise<ServerTestResult> {
  const input = form[secretFieldOf(form)];
  try {
    const server = serverWith(ctx, stored, form, input);
    await beginSettingsTest(ctx, {
      action: 'servers.test',
      recordAudit,
      subject: 'server',
      server: new URL(server.address).host,
      input,
      hasStoredSecret: hasSecretFor(form, stored),
    });
    return await inSlot(() => readServer(ctx, server), { key: ctx.tenantId });
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    return { ok: false, failure: error.failure, version: null, message: error.message };
  }
}

/** The data every poll needs, and the right each request needs. */
const needed: Record<ServerKind, { path: string; shape: 'list' | 'row'; right: string }[]> = {
  virtualization: [
    {
      path: '/cluster/resources',
      shape: 'list',
      right: 'the role PVEAuditor on / for the user and, where there is one, the token',
    },
    { path: '/cluster/status', shape: 'list', right: 'Sys.Audit on /' },
  ],
  backup: [
    { path: '/status/datastore-usage', shape: 'list', right: 'the role Audit on /' },
    { path: '/nodes/localhost/status', shape: 'row', right: 'Sys.Audit on /system/status' },
  ],
  'mail-gateway': [
    { path: '/nodes/localhost/status', shape: 'row', right: 'the role Auditor' },
    { path: '/nodes/localhost/services', shape: 'list', right: 'the role Auditor' },
  ],
};

async function readServer(ctx: UserContext, server: MonitoredServer): Promise<ServerTestResult> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    using session = openServer(server, { signal, large: largeAnswersFor(ctx) });
    const version = textOf((await session.row('/version', { maxBytes: shortAnswerBytes }))['version']);
    const missing: string[] = [];
    for (const one of needed[server.kind]) if (await isMissing(session, one)) missing.push(one.right);
    if (missing.length > 0)
      return {
        ok: false,
        failure: 'rechte',
        version,
        message: `The sign-in works, but the account lacks rights: ${missing.join('; ')}.`,
      };
    return { ok: true, failure: null, version, message: 'Everything that is needed can be read.' };
  } catch (error) {
    if (!signal.aborted) throw error;
    const { host } = new URL(server.address);
    throw new ServerFailure('netz', `${host} did not answer within ${timeoutMs / SECOND} seconds.`, error);
  }
}

/** Without the right, a list is empty and a record is refused. */
async function isMissing(
  session: ServerSession,
  { path, shape }: { path: string; shape: 'list' | 'row' },
): Promise<boolean> {
  try {
    // Only the existence of data matters.
    const options = { fields: [] };
    return shape === 'row' ? !(await session.row(path, options)) : (await session.list(path, options)).length === 0;
  } catch (error) {
    if (error instanceof ServerFailure && error.failure === 'rechte') return true;
    throw error;
  }
}
