import { eq, isNotNull } from 'drizzle-orm';
import { afterAll } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { groupMembers, groups } from '@portal/db/schema/modules';
import { LdapConfigInput } from '@portal/domain/directory/config';
import type { LdapSyncRun } from '@portal/domain/directory/sync';
import type { UserContext } from '@portal/platform/context';
import { handle } from '@portal/platform/jobs/handler';
import { waitForRun } from '@portal/platform/runs/wait';
import { syncDirectory } from '@portal/usecases/directory/jobs';
import { putLdapConfig } from '@portal/usecases/directory/ldap-config';
import { getSyncRun } from '@portal/usecases/directory/list-sync-runs';
import { startSync } from '@portal/usecases/directory/start-sync';
import { syncTenantDirectory } from '@portal/usecases/directory/sync/sync-directory';
import { testRuntime } from './runtime.ts';
import { person, startSlapd, type TestEntry, type TestSlapd } from './servers/slapd.ts';
import { startTestWorker } from './worker.ts';

/** Access to a directory. */
export interface TestDirectory {
  url: string;
  baseDn: string;
  adminDn: string;
  adminPassword: string;
}

/** A runtime with a database for the calling file and a worker that synchronizes, and helpers for tests of directories. */
export async function directoryRuntime() {
  const base = await testRuntime();
  const worker = startTestWorker(base.url, { handlers: [handle(syncDirectory, syncTenantDirectory)] });
  afterAll(() => worker.stop());

  /** Signs in an administrator of a new tenant with that directory. */
  async function adminOf(directory: TestDirectory, settings: Partial<LdapConfigInput> = {}): Promise<UserContext> {
    const ctx = await base.signedIn(await base.make.user({ role: 'ADMIN' }));
    await configure(ctx, directory, settings);
    return ctx;
  }

  async function configure(
    ctx: UserContext,
    directory: TestDirectory,
    settings: Partial<LdapConfigInput> = {},
  ): Promise<void> {
    await putLdapConfig(
      ctx,
      LdapConfigInput.parse({
        serverUrl: directory.url,
        baseDn: directory.baseDn,
        bindDn: directory.adminDn,
        bindPassword: directory.adminPassword,
        ...settings,
      }),
    );
  }

  /** Starts a run and waits for its end. */
  async function sync(ctx: UserContext, options: { force?: boolean } = {}): Promise<LdapSyncRun> {
    const { runId } = await startSync(ctx, options);
    if (!(await waitForRun(ctx, runId, 60))) throw new Error('the run did not end within a minute');
    return getSyncRun(ctx, runId);
  }

  const accounts = (ctx: UserContext) =>
    ctx.read((db) => db.select().from(users).where(isNotNull(users.ldapDn)).orderBy(users.username));
  const account = async (ctx: UserContext, username: string) => {
    const [found] = await ctx.read((db) => db.select().from(users).where(eq(users.username, username)));
    if (!found) throw new Error(`there is no account ${username}`);
    return found;
  };
  const usernames = async (ctx: UserContext): Promise<string[]> =>
    (await accounts(ctx)).filter(({ isActive }) => isActive).map(({ username }) => username);

  /** Members by group, in order. */
  async function memberships(ctx: UserContext): Promise<Record<string, string[]>> {
    const rows = await ctx.read((db) =>
      db
        .select({ group: groups.internalName, username: users.username })
        .from(groups)
        .leftJoin(groupMembers, eq(groupMembers.groupId, groups.id))
        .leftJoin(users, eq(users.id, groupMembers.userId))
        .where(isNotNull(groups.directoryId))
        .orderBy(groups.internalName, users.username),
    );
    const byGroup: Record<string, string[]> = {};
    for (const { group, username } of rows) (byGroup[group] ??= []).push(...(username === null ? [] : [username]));
    return byGroup;
  }

  const servers: TestSlapd[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.stop())));
  /** Starts an OpenLDAP server with these entries; it stops after all tests. */
  async function directory(entries: TestEntry[] = []): Promise<TestSlapd> {
    const server = await startSlapd({ entries });
    servers.push(server);
    return server;
  }
  let suffix = 0;
  /** Makes a name unique in this file, because usernames are unique across tenants. */
  const own = (name: string): string => `${name}${(suffix += 1)}`;
  const people = (count: number, prefix = `${own('p')}x`): TestEntry[] =>
    Array.from({ length: count }, (_, n) => person(`${prefix}${n}`));
  const uid = (entry: TestEntry): string => entry.attributes['uid'] as string;

  return {
    ...base,
    directory,
    own,
    people,
    uid,
    worker,
    adminOf,
    configure,
    sync,
    accounts,
    account,
    usernames,
    memberships,
  };
}
