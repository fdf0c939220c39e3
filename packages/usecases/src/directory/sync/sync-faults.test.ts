import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ldapConfigs } from '@portal/db/schema/directory';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { runs } from '@portal/db/schema/platform/operations';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { directoryRuntime } from '@portal/testing/directory';
import { type LdapFault, type LdapGate, openLdapGate } from '@portal/testing/servers/ldap-gate';
import { group, person, startSlapd, type TestSlapd } from '@portal/testing/servers/slapd';
import { otherCaCertificatePem } from '@portal/testing/servers/tls';
import { serviceBinary } from '@portal/testing/services';
import { startSync } from '../start-sync.ts';
import { findChanges } from './find-changes.ts';
import { planAccounts } from './plan-accounts.ts';
import { previewSync } from './preview-sync.ts';
import { syncTenantDirectory } from './sync-directory.ts';

const { runtime, adminOf, configure, sync, accounts } = await directoryRuntime();

describe.skipIf(!serviceBinary('slapd'))('a synchronization that cannot be trusted', { timeout: 120_000 }, () => {
  let server: TestSlapd;
  let gate: LdapGate;
  let ctx: UserContext;

  beforeAll(async () => {
    const everybody = Array.from({ length: 1_600 }, (_, n) => person(`p${n}`));
    server = await startSlapd({
      entries: [
        ...everybody,
        group(
          'staff',
          everybody.slice(0, 20).map(({ dn }) => dn),
        ),
      ],
    });
    gate = await openLdapGate(server.url);
    ctx = await adminOf({ ...server, url: gate.url });
    await sync(ctx);
    // The next good run would make these changes; they must not happen earlier.
    await server.modify(everybody[0]?.dn as string, { sn: 'Changed' });
    await server.add(person('new'));
    await server.delete(everybody[1]?.dn as string);
  });
  afterAll(async () => {
    await gate.stop();
    await server.stop();
  });

  // The first page holds the group, so people start with the second.
  const faults: [string, LdapFault, string, RegExp][] = [
    ['an empty success', { kind: 'empty' }, 'blocked', /returned no people/],
    ['a third page that fails', { kind: 'result', page: 4, code: 80 }, 'failed', /refused the request/],
    ['a size limit', { kind: 'result', page: 3, code: 4 }, 'failed', /size limit/],
    [
      'a referral',
      { kind: 'result', page: 2, code: 10, referrals: ['ldap://elsewhere/'] },
      'failed',
      /refers to another server/,
    ],
    ['a connection that is reset in the middle of a page', { kind: 'reset', page: 3 }, 'failed', /broke off/],
    [
      'groups that cannot be read',
      { kind: 'result', page: 1, code: 50 },
      'failed',
      /does not let the bind account read/,
    ],
  ];
  it.each(faults)('because of %s changes nothing and says why', async (_what, fault, state, words) => {
    const before = await everything(ctx);
    gate.setFault(fault);
    const run = await sync(ctx);
    expect(run).toMatchObject({
      state,
      error: expect.stringMatching(words),
      counts: { created: 0, updated: 0, deactivated: 0, groups: 0, memberships: 0 },
    });
    expect(run.error).not.toMatch(/dc=/i);
    expect(await everything(ctx)).toEqual(before);
    gate.setFault(fault);
    if (state === 'failed')
      await expect(previewSync(ctx)).rejects.toMatchObject({
        kind: 'upstream',
        code: 'DIRECTORY_UNAVAILABLE',
        message: expect.stringMatching(words),
      });
    gate.setFault(null);
    expect(await staged(ctx)).toBe(0);
  });

  it('because the server stops sending, changes nothing and says why', async () => {
    const before = await everything(ctx);
    gate.setFault({ kind: 'stall', page: 3 });
    const run = await sync(ctx);
    gate.setFault(null);
    expect(run).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/did not answer|stopped answering|in time|seconds/),
    });
    expect(await everything(ctx)).toEqual(before);
  });

  it('because of a certificate of another authority changes nothing and says why', async () => {
    const before = await everything(ctx);
    await configure(
      ctx,
      { ...server, url: server.ldapsUrl.replace('127.0.0.1', 'localhost') },
      { caCertificatePem: otherCaCertificatePem },
    );
    expect(await sync(ctx)).toMatchObject({ state: 'failed', error: expect.stringMatching(/certificate/) });
    expect(await everything(ctx)).toEqual(before);
    await configure(ctx, { ...server, url: gate.url });
  });

  it('because its password can no longer be decrypted changes nothing and says why', async () => {
    const before = await everything(ctx);
    await ctx.tx((tx) =>
      tx.update(ldapConfigs).set({ bindPassword: 'v1:lost:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAAAA' }),
    );
    const run = await sync(ctx);
    expect(run).toMatchObject({ state: 'failed', error: expect.stringMatching(/enter it again/) });
    expect(await everything(ctx)).toEqual(before);
    await configure(ctx, { ...server, url: gate.url });
    const entries = await ctx.read((db) => db.select().from(auditEntries).where(eq(auditEntries.action, 'ldap.sync')));
    expect(entries.map(({ summary }) => summary)).toEqual(
      expect.arrayContaining([expect.stringContaining('failed: ')]),
    );
    expect(JSON.stringify(entries)).not.toMatch(/dc=/);
  });

  it('because another worker has taken it over writes nothing more', async () => {
    const before = await everything(ctx);
    const { runId } = await startSync({ ...ctx, enqueue: async () => undefined }, {});
    const attempt = (n: number) =>
      ctx.tx((tx) => tx.update(runs).set({ state: 'running', attempts: n }).where(eq(runs.id, runId)));
    await attempt(1);
    const stalled = syncTenantDirectory(
      runtime.tenant({ requestId: 'stalled', ip: null, userAgent: null }, ctx.tenantId),
      { force: false },
      {
        signal: new AbortController().signal,
        actorId: null,
        run: { id: runId, attempt: 1 },
        // The other worker begins while this one still reads.
        progress: (done) => done === 500 && void attempt(2),
      },
    );
    await expect(stalled).rejects.toThrow('Another worker');
    expect(await everything(ctx)).toEqual(before);
    await ctx.tx((tx) =>
      tx
        .update(runs)
        .set({ state: 'failed', finishedAt: sql`now()` })
        .where(eq(runs.id, runId)),
    );
  });

  it('because the database lost the people read ends before it draws conclusions', async () => {
    const lost = { scope: ctx, runId: newId(), attempt: 1 };
    const duplicates = { usernames: new Map(), emails: new Map() };
    await expect(findChanges(lost, { staged: 1, excluded: new Set() })).rejects.toMatchObject({
      kind: 'unavailable',
    });
    await expect(
      planAccounts(ctx, lost, ['x'], { duplicates, excluded: new Set(), isRead: () => false }),
    ).rejects.toMatchObject({
      kind: 'unavailable',
    });
  });

  it('is followed by a good one that catches up', async () => {
    expect(await sync(ctx)).toMatchObject({ state: 'succeeded', counts: { created: 1, updated: 1, deactivated: 1 } });
    expect((await accounts(ctx)).filter(({ isActive }) => isActive)).toHaveLength(1_600);
  });
});

async function staged(ctx: UserContext): Promise<number> {
  const { rows } = await ctx.tx((tx) =>
    tx.execute<{ count: number }>(sql`select count(*)::int as count from ldap_staged_entries`),
  );
  return rows[0]?.count ?? 0;
}

/** The versions of all rows of accounts, groups and memberships. */
async function everything(ctx: UserContext): Promise<unknown[]> {
  const { rows } = await ctx.tx((tx) =>
    tx.execute(sql`
      select id::text, ctid::text, xmin::text from users where ldap_dn is not null
      union all select id::text, ctid::text, xmin::text from groups
      union all select user_id::text, ctid::text, xmin::text from group_members order by 1, 2`),
  );
  return rows;
}
