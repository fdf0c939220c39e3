import { afterAll, describe, expect, it } from 'vitest';
import { monitoredServers, pollPlans, serverStatuses } from '@portal/db/schema/monitoring/servers';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { newId } from '@portal/domain/ids';
import { ServerTestInput } from '@portal/domain/monitoring/servers';
import { Secret } from '@portal/domain/secret';
import { rotateSecrets } from '@portal/platform/secrets/rotate-secrets';
import { openSecrets } from '@portal/platform/secrets/sealed';
import { openSecretStore } from '@portal/platform/secrets/stored-secret';
import { deadForm, passwordForm, pollNow, serverForm } from '@portal/testing/monitoring';
import { testRuntime } from '@portal/testing/runtime';
import { startBackupServer } from '@portal/testing/servers/products/backup-server';
import { startMailGatewayServer } from '@portal/testing/servers/products/mail-gateway-server';
import type { ProductServer } from '@portal/testing/servers/products/product-server';
import { startVirtualizationServer } from '@portal/testing/servers/products/virtualization-server';
import { otherCaCertificatePem } from '@portal/testing/servers/tls';
import { the } from '@portal/testing/the';
import { monitoring } from './area.ts';
import { createServer, deleteServer, listServers, putServer, serverTile } from './servers.ts';
import { storedServer } from './stored-server.ts';
import { testServer, testStoredServer } from './test-server.ts';

const { make, signedIn, config } = await testRuntime();
const admin = async () => signedIn(await make.user({ role: 'ADMIN' }));
const virtualization = await startVirtualizationServer();
const backup = await startBackupServer();
const gateway = await startMailGatewayServer();
afterAll(() => Promise.all([virtualization, backup, gateway].map((server) => server.switchOff())));
const tryForm = (server: ProductServer, more: object = {}) => ServerTestInput.parse({ ...serverForm(server), ...more });
type Ctx = Awaited<ReturnType<typeof admin>>;
const audited = async (ctx: Ctx) =>
  (await ctx.read((db) => db.select().from(auditEntries).orderBy(auditEntries.id))).map(({ action, summary }) => ({
    action,
    summary,
  }));

describe('a server', () => {
  it('is stored with a sealed secret, shown without it, and recorded in the audit log', async () => {
    const ctx = await admin();
    const server = await createServer(
      ctx,
      serverForm(virtualization, { address: `HTTPS://LOCALHOST:${virtualization.port}/` }),
    );
    expect(server).toMatchObject({
      address: virtualization.address,
      hasTokenSecret: true,
      hasPassword: false,
      status: { state: 'unknown', checkedAt: null, changes: [] },
    });
    const { secret } = virtualization.accounts.token;
    expect(JSON.stringify(server)).not.toContain(secret);
    const [row] = await ctx.read((db) => db.select().from(monitoredServers));
    expect(row?.tokenSecret).not.toContain(secret);
    expect(row?.password).toBe(null);
    expect(await audited(ctx)).toEqual([
      { action: 'servers.create', summary: expect.stringContaining(virtualization.address) },
    ]);
    await deleteServer(ctx, server.id);
    expect(await listServers(ctx)).toEqual([]);
    await expect(deleteServer(ctx, server.id)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(putServer(ctx, server.id, serverForm(backup))).rejects.toMatchObject({ kind: 'not_found' });
  });

  it.each([
    ['a mail gateway with a token', { kind: 'mail-gateway' }, 'TOKEN_NOT_SUPPORTED'],
    ['no secret', { tokenSecret: undefined }, 'SECRET_REQUIRED'],
    ['a blank secret', { tokenSecret: '' }, 'SECRET_REQUIRED'],
    ['the secret of the other method', { authMethod: 'password', username: 'a@pam' }, 'SECRET_REQUIRED'],
    ['a user without realm', { authMethod: 'password', username: 'root', password: 'x' }, 'VALIDATION_FAILED'],
  ])('with %s is refused when it is added, replaced and tested', async (_, more, code) => {
    const ctx = await admin();
    const { id } = await createServer(ctx, serverForm(virtualization));
    const form = { ...serverForm(virtualization), ...more } as ReturnType<typeof serverForm>;
    await expect(createServer(ctx, form)).rejects.toMatchObject({ code });
    await expect(testServer(ctx, ServerTestInput.parse(form))).rejects.toMatchObject({ code });
    if (code !== 'SECRET_REQUIRED' || form.authMethod === 'password') {
      await expect(putServer(ctx, id, form)).rejects.toMatchObject({ code });
      await expect(testServer(ctx, ServerTestInput.parse({ ...form, id }))).rejects.toMatchObject({ code });
    }
  });

  it('keeps its secret, but only for the same target', async () => {
    const ctx = await admin();
    const { id } = await createServer(ctx, serverForm(virtualization));
    const before = virtualization.calls.length;
    const without = (more: object = {}) => ({ ...serverForm(virtualization), tokenSecret: undefined, ...more });
    await putServer(ctx, id, without({ name: 'new', pollIntervalMin: 9, verifyTls: true }));
    await putServer(ctx, id, without({ tokenSecret: '********' }));
    for (const more of [
      { address: 'https://localhost:9' },
      { address: `https://127.0.0.1:${virtualization.port}` },
      { tokenId: 'other@pve!monitoring' },
      { verifyTls: false },
      { caCertificatePem: otherCaCertificatePem },
      { tokenSecret: null },
      { authMethod: 'password' as const, username: 'a@pam' },
    ]) {
      await expect(putServer(ctx, id, without(more))).rejects.toMatchObject({ code: 'SECRET_REQUIRED' });
      await expect(testServer(ctx, ServerTestInput.parse({ ...without(more), id }))).rejects.toMatchObject({
        code: 'SECRET_REQUIRED',
      });
    }
    expect(virtualization.calls.slice(before)).toEqual([]);
  });

  it('deletes the secret of an unused method', async () => {
    const ctx = await admin();
    const { id } = await createServer(ctx, serverForm(virtualization));
    expect(await putServer(ctx, id, passwordForm(virtualization))).toMatchObject({
      hasTokenSecret: false,
      hasPassword: true,
      tokenId: null,
    });
    await expect(putServer(ctx, id, { ...serverForm(virtualization), tokenSecret: '' })).rejects.toMatchObject({
      code: 'SECRET_REQUIRED',
    });
  });

  it('is one of at most 500, even with concurrent calls', async () => {
    const ctx = await admin();
    const { name, ...form } = deadForm();
    const rows = Array.from({ length: 498 }, () => ({ id: newId(), tenantId: ctx.tenantId, name, ...form }));
    await ctx.tx((tx) => tx.insert(monitoredServers).values(rows));
    const made = await Promise.allSettled(Array.from({ length: 4 }, () => createServer(ctx, deadForm())));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const one of made) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'LIMIT_REACHED' });
  });

  it('has its secrets resealed when keys are rotated', async () => {
    const ctx = await admin();
    const { id } = await createServer(ctx, serverForm(virtualization));
    const newKey = { id: 'new', bytes: new Secret(Buffer.alloc(32, 9)) };
    const [oldKey] = config.secretsKeys;
    const both = openSecrets([newKey, oldKey]);
    const [rotation] = await rotateSecrets(ctx, both, monitoring.sealedColumns ?? []);
    expect(rotation).toMatchObject({ column: 'monitored_servers.tokenSecret', unreadable: new Map() });
    const stored = await ctx.read((db) => storedServer(db, id));
    const { tokenSecret } = { ...stored };
    expect(tokenSecret).toMatch(/new/);
    expect(await testStoredServer({ ...ctx, secrets: openSecretStore(both) }, id)).toMatchObject({ ok: true });
    expect(await testStoredServer(ctx, id)).toMatchObject({
      ok: false,
      failure: 'zugang',
      message: expect.stringContaining('cannot be read'),
    });
  });
});

describe('a test of a server', () => {
  it.each([
    [virtualization, '9.2.11'],
    [backup, '4.2'],
    [gateway, '9.1.0'],
  ] as const)('confirms that everything works', async (server, version) => {
    const ctx = await admin();
    expect(await testServer(ctx, tryForm(server))).toEqual({
      ok: true,
      failure: null,
      version,
      message: 'Everything that is needed can be read.',
    });
  });

  it('says which rights are missing', async () => {
    const ctx = await admin();
    virtualization.cluster.rights = 'none';
    expect(await testServer(ctx, tryForm(virtualization))).toMatchObject({
      ok: false,
      failure: 'rechte',
      version: '9.2.11',
      message: expect.stringContaining('PVEAuditor'),
    });
    virtualization.cluster.rights = 'auditor';
  });

  it('with the id of a server sends its secret, and the audit log names the target', async () => {
    const ctx = await admin();
    const { id } = await createServer(ctx, serverForm(backup));
    expect(await testServer(ctx, tryForm(backup, { tokenSecret: '', id }))).toMatchObject({ ok: true });
    expect(await testStoredServer(ctx, id)).toMatchObject({ ok: true });
    expect((await audited(ctx)).slice(1)).toEqual(
      [1, 2].map(() => ({
        action: 'servers.test',
        summary: `Tried server settings at the server localhost:${backup.port} with the stored password.`,
      })),
    );
    await expect(testServer(await admin(), tryForm(backup, { tokenSecret: '', id }))).rejects.toMatchObject({
      kind: 'not_found',
    });
  });

  it('says what is wrong, and is refused the eleventh time in a minute', async () => {
    const ctx = await admin();
    const wrong = tryForm(virtualization, { tokenSecret: 'wrong-one' });
    for (let n = 0; n < 10; n += 1)
      expect(await testServer(ctx, wrong)).toMatchObject({ ok: false, failure: 'zugang', version: null });
    await expect(testServer(ctx, wrong)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('ends within 20 seconds', { timeout: 40_000 }, async () => {
    const ctx = await admin();
    virtualization.intercept = () => true;
    const begunAt = performance.now();
    expect(await testServer(ctx, tryForm(virtualization))).toMatchObject({ ok: false, failure: 'netz' });
    expect(performance.now() - begunAt).toBeLessThan(20_000);
    virtualization.intercept = null;
  });
});

describe('the plan of a tenant', () => {
  const plan = async (ctx: Ctx) => (await ctx.read((db) => db.select().from(pollPlans)))[0]?.nextPollAt ?? null;
  it('polls a new server at once, and none without an active server', async () => {
    const ctx = await admin();
    const { id } = await createServer(ctx, serverForm(virtualization, { pollIntervalMin: 60 }));
    expect(the(await plan(ctx)).getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    const { id: second } = await createServer(ctx, serverForm(virtualization, { pollIntervalMin: 2, isActive: false }));
    expect(the(await plan(ctx)).getTime()).toBeLessThanOrEqual(Date.now() + 3_600_000);
    await putServer(ctx, second, serverForm(virtualization, { pollIntervalMin: 2 }));
    await deleteServer(ctx, id);
    expect(the(await plan(ctx)).getTime()).toBeLessThanOrEqual(Date.now() + 121_000);
    await putServer(ctx, second, serverForm(virtualization, { isActive: false }));
    expect(await plan(ctx)).toBe(null);
  });
});

describe('a tile', () => {
  it('shows the active servers as in the list, the worst first', async () => {
    const ctx = await admin();
    expect(await serverTile(ctx)).toEqual({ worst: 'unknown', servers: [] });
    await createServer(ctx, serverForm(virtualization, { name: 'b' }));
    await createServer(ctx, serverForm(virtualization, { name: 'off', isActive: false }));
    await pollNow(ctx);
    await createServer(ctx, serverForm(backup, { name: 'a new one' }));
    const { worst, servers } = await serverTile(ctx);
    const list = await listServers(ctx);
    expect([worst, servers.map(({ name }) => name)]).toEqual(['unknown', ['a new one', 'b']]);
    for (const tile of servers) {
      const { id, name, kind, status } = the(list.find((one) => one.id === tile.id));
      const { state, failure, message, checkedAt, headline, facts } = status;
      expect(tile).toEqual({ id, name, kind, state, failure, message, checkedAt, headline, facts });
    }
    expect(the(servers[1]).facts.length).toBeGreaterThan(3);
  });

  it('does not read columns it does not show', async () => {
    const ctx = await admin();
    await createServer(ctx, serverForm(virtualization));
    await pollNow(ctx);
    // Invalid JSON, so that reading it fails.
    await ctx.tx((tx) => tx.update(serverStatuses).set({ rules: '{', notExamined: '{', changes: '{' }));
    expect(await serverTile(ctx)).toMatchObject({ worst: 'ok', servers: [{ state: 'ok' }] });
  });
});
