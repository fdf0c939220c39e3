import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invoiceMailboxes } from '@portal/db/schema/invoices';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { rateWindows, runs } from '@portal/db/schema/platform/operations';
import { tenants } from '@portal/db/schema/tenants';
import { invoiceMail, mailboxForm } from '@portal/testing/invoices';
import { testRuntime } from '@portal/testing/runtime';
import { startDovecot, type TestDovecot } from '@portal/testing/servers/dovecot';
import { type ImapGate, openImapGate } from '@portal/testing/servers/imap-gate';
import { caCertificatePem } from '@portal/testing/servers/tls';
import { serviceBinary } from '@portal/testing/services';
import { startTestWorker } from '@portal/testing/worker';
import { setModuleEnabled } from '../modules/modules.ts';
import { getRun } from '../operations/get-run.ts';
import { invoices as area } from './area.ts';
import { invoiceHandlers } from './handlers.ts';
import { listInvoices } from './invoices.ts';
import { deleteInvoiceMailbox, getInvoiceMailbox, putInvoiceMailbox } from './mailbox.ts';
import { startDueInvoiceFetches } from './start-due-fetches.ts';
import { startFetch } from './start-fetch.ts';
import { testInvoiceMailbox } from './test-mailbox.ts';

const { make, signedIn, system, url, config } = await testRuntime();
const nowhere = { host: '127.0.0.1', port: 1 };

const admin = async () => signedIn(await make.user({ role: 'ADMIN' }));
type Ctx = Awaited<ReturnType<typeof admin>>;
const rows = (ctx: Ctx) => ctx.read((db) => db.select().from(invoiceMailboxes));
const runsOf = (ctx: Ctx) => ctx.read((db) => db.select().from(runs).where(eq(runs.kind, 'invoices.fetch')));
const due = (ctx: Ctx) => ctx.tx((tx) => tx.update(invoiceMailboxes).set({ nextFetchAt: sql`now()` }));

describe('the settings of a mailbox', () => {
  it('are stored with a sealed password and returned without it; unset fields are null', async () => {
    const ctx = await admin();
    expect(await getInvoiceMailbox(ctx)).toMatchObject({ host: null, hasPassword: false, lastError: null });
    const put = await putInvoiceMailbox(ctx, mailboxForm(nowhere, 'ada', { processedFolder: 'A', failedFolder: 'B' }));
    expect(put).toMatchObject({
      host: '127.0.0.1',
      username: 'ada',
      hasPassword: true,
      processedFolder: 'A',
      folder: 'INBOX',
    });
    expect(JSON.stringify(put)).not.toContain('mailbox-secret');
    const [row] = await rows(ctx);
    expect(row?.password).toMatch(/^v1:/);
    await deleteInvoiceMailbox(ctx);
    expect(await getInvoiceMailbox(ctx)).toMatchObject({ host: null, hasPassword: false });
  });

  it('keep the password only for the server, account and encryption it was stored for', async () => {
    const ctx = await admin();
    const form = { ...mailboxForm(nowhere, 'ada'), security: 'starttls' as const };
    await putInvoiceMailbox(ctx, form);
    const [before] = await rows(ctx);
    const { password: _, ...blank } = form;
    await putInvoiceMailbox(ctx, { ...blank, password: '', folder: 'Rechnungen', security: 'tls' });
    expect((await rows(ctx))[0]?.password).toBe(before?.password);
    for (const change of [
      { host: 'localhost' },
      { port: 2 },
      { username: 'bob' },
      { security: 'none' as const },
      { caCertificatePem },
    ])
      await expect(
        putInvoiceMailbox(ctx, { ...blank, security: 'tls', password: undefined, ...change }),
      ).rejects.toMatchObject({
        code: 'SECRET_REQUIRED',
        details: [{ path: 'password' }],
      });
    await expect(testInvoiceMailbox(ctx, { ...blank, password: undefined, host: 'localhost' })).rejects.toMatchObject({
      code: 'SECRET_REQUIRED',
    });
    expect((await putInvoiceMailbox(ctx, { ...blank, host: 'localhost', password: null })).hasPassword).toBe(false);
  });

  it('get a new folder id when server, account or folder change, and are noted in the audit log', async () => {
    const ctx = await admin();
    const form = mailboxForm(nowhere, 'ada');
    const boxIds: (string | undefined)[] = [];
    for (const change of [
      {},
      { processedFolder: 'A' },
      { folder: 'B' },
      { username: 'bob' },
      { isActive: false, username: 'bob' },
    ]) {
      await putInvoiceMailbox(ctx, { ...form, ...change });
      boxIds.push((await rows(ctx))[0]?.boxId);
    }
    expect(boxIds[1]).toBe(boxIds[0]);
    expect(new Set(boxIds).size).toBe(3);
    expect((await rows(ctx))[0]).toMatchObject({ revision: 5, nextFetchAt: null });
    await deleteInvoiceMailbox(ctx);
    const entries = await ctx.read((db) => db.select().from(auditEntries).orderBy(auditEntries.id));
    expect(entries.map(({ action }) => action)).toEqual([
      ...Array<string>(5).fill('invoice_mailbox.update'),
      'invoice_mailbox.delete',
    ]);
    expect(entries[0]?.summary).toBe('Changed the invoice mailbox: folder INBOX of ada at 127.0.0.1:1, switched on.');
  });
});

it('invoices have no retention period', () => {
  expect(area.retention).toBeUndefined();
});

describe('due fetches', () => {
  it('start once despite concurrent workers, repeat after ten minutes, and rest while the tenant, module or mailbox is switched off', async () => {
    const [active, off, resting, without] = [await admin(), await admin(), await admin(), await admin()];
    await setModuleEnabled(without, 'invoice-mailbox', false);
    for (const ctx of [active, off, resting, without])
      await putInvoiceMailbox(ctx, mailboxForm(nowhere, 'ada', { isActive: ctx !== off }));
    await system().acrossTenants('a test', (tx) =>
      tx.update(tenants).set({ isActive: false }).where(eq(tenants.id, resting.tenantId)),
    );
    await Promise.all(Array.from({ length: 5 }, () => startDueInvoiceFetches(system())));
    const begun = [active, off, resting, without].map(async (ctx) => (await runsOf(ctx)).length);
    expect(await Promise.all(begun)).toEqual([1, 0, 0, 0]);
    const [row] = await active.read((db) =>
      db
        .select({ minutes: sql<number>`extract(epoch from next_fetch_at - now())::float8 / 60` })
        .from(invoiceMailboxes),
    );
    expect(row?.minutes).toBeGreaterThan(9);
    expect(row?.minutes).toBeLessThanOrEqual(10);
    // The run of the first tenant is still in progress.
    const late = await admin();
    await putInvoiceMailbox(late, mailboxForm(nowhere, 'ada', { isActive: true }));
    await startDueInvoiceFetches(system());
    expect(await runsOf(late)).toHaveLength(1);
  });

  it('wait until the current run ends; a manual and a scheduled fetch at the same time are one run', async () => {
    const ctx = await admin();
    await expect(startFetch(ctx)).rejects.toMatchObject({ code: 'MAILBOX_NOT_CONFIGURED' });
    await putInvoiceMailbox(ctx, mailboxForm(nowhere, 'ada'));
    const sweeping = [startDueInvoiceFetches(system()), startDueInvoiceFetches(system())];
    const asked = await Promise.allSettled(Array.from({ length: 10 }, () => startFetch(ctx)));
    await Promise.all(sweeping);
    const refused = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).toHaveLength(9);
    for (const error of refused) {
      expect(error).toMatchObject({ code: 'POLL_LOCKED', kind: 'busy' });
      expect(error.retryAfterSec).toBeGreaterThan(0);
      expect(error.retryAfterSec).toBeLessThanOrEqual(10);
    }
    const [run, ...others] = await runsOf(ctx);
    expect(others).toEqual([]);
    expect(asked).toContainEqual({ status: 'fulfilled', value: { runId: run?.id } });
    // Ten seconds later a second request joins the run, also from a colleague.
    await system().acrossTenants('a test lets time pass', (tx) => tx.delete(rateWindows));
    const colleague = await signedIn(await make.user({ tenantId: ctx.tenantId, role: 'ADMIN' }));
    expect(await startFetch(colleague)).toEqual({ runId: run?.id });
    expect(await getRun(colleague, run?.id ?? '')).toMatchObject({ state: 'queued' });
    await expect(startFetch(ctx)).rejects.toMatchObject({ code: 'POLL_LOCKED' });
    expect((await runsOf(ctx)).length).toBe(1);
    await due(ctx);
    await startDueInvoiceFetches(system());
    expect((await runsOf(ctx)).length).toBe(1);
    // The mailbox stays due, so the next run starts as soon as this one has ended.
    await ctx.tx((tx) => tx.update(runs).set({ state: 'succeeded', finishedAt: sql`now()` }));
    await startDueInvoiceFetches(system());
    expect((await runsOf(ctx)).length).toBe(2);
  });
});

describe.skipIf(serviceBinary('dovecot') === null)('with a mail server', () => {
  let dovecot: TestDovecot;
  let gate: ImapGate;
  beforeAll(async () => {
    dovecot = await startDovecot();
    gate = await openImapGate(dovecot);
    await dovecot.deliver('ada', invoiceMail());
    await dovecot.makeFolder('ada', 'Da');
  });
  afterAll(async () => {
    await gate.stop();
    await dovecot.stop();
  });

  it('a mailbox can be tested before it is saved, with the stored or the typed password', async () => {
    const ctx = await admin();
    const form = mailboxForm(dovecot, 'ada');
    const before = await dovecot.mails('ada');
    const tls = { host: 'localhost', security: 'tls' as const, port: dovecot.tlsPort };
    for (const [change, error] of [
      [{}, null],
      [{ processedFolder: 'Da' }, null],
      [{ ...tls, caCertificatePem }, null],
      [{ ...tls }, 'certificate'],
      [{ password: 'wrong' }, 'unauthorized'],
      [{ password: null }, 'unauthorized'],
      [{ folder: 'Fort' }, 'folderMissing'],
      [{ failedFolder: 'Fort' }, 'folderMissing'],
      [{ port: 1 }, 'unreachable'],
    ] as const)
      expect(await testInvoiceMailbox(ctx, { ...form, ...change })).toEqual({
        ok: error === null,
        error,
        message: expect.stringMatching(/^[A-Z].*\.$/),
      });
    expect(await dovecot.mails('ada')).toEqual(before);
    await putInvoiceMailbox(ctx, form);
    expect(await testInvoiceMailbox(ctx, { ...form, password: '********' })).toMatchObject({ ok: true });
    await expect(testInvoiceMailbox(ctx, form)).rejects.toMatchObject({ kind: 'busy' });
  });

  it('a server that hangs is given up before the answer is due', async () => {
    const ctx = await admin();
    gate.setFault({ kind: 'stall', at: /EXAMINE/ });
    const form = mailboxForm({ ...gate, password: dovecot.password }, 'ada');
    expect(await testInvoiceMailbox(ctx, form, { testMs: 500 })).toMatchObject({ ok: false, error: 'timeout' });
    gate.setFault(null);
  });

  it('the worker fetches due mailboxes, and fetches remaining mails at once', async () => {
    const ctx = await admin();
    for (let n = 0; n < 25; n += 1) await dovecot.deliver('bob', invoiceMail({ number: `B-${n}` }));
    await putInvoiceMailbox(ctx, mailboxForm(dovecot, 'bob'));
    const worker = startTestWorker(
      url,
      { handlers: invoiceHandlers, schedules: area.schedules ?? [], concurrency: area.concurrency ?? {} },
      { env: { DATA_DIR: config.dataDir } },
    );
    try {
      await expect
        .poll(async () => (await listInvoices(ctx, { limit: 50 })).items.length, { timeout: 40_000 })
        .toBe(25);
      await expect.poll(async () => (await runsOf(ctx)).map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
      expect((await runsOf(ctx)).map(({ done, total }) => [done, total])).toEqual([
        [20, 25],
        [5, 5],
      ]);
      const body = await worker.figures();
      expect(body).toMatch(/portal_invoices_total\{format="ubl",outcome="new",process="worker"\} \d+/);
      expect(JSON.stringify(worker.lines)).not.toContain(dovecot.password);
    } finally {
      await worker.stop();
    }
  });
});
