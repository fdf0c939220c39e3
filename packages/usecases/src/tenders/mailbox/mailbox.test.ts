import { eq, inArray, sql } from 'drizzle-orm';
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { disabledModules, moduleGrants } from '@portal/db/schema/modules';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { tenants } from '@portal/db/schema/tenants';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { tenderNotices, tenderPayloads, tenders as tenderRows } from '@portal/db/schema/tenders/notices';
import { tenderSources } from '@portal/db/schema/tenders/sources';
import { newId } from '@portal/domain/ids';
import type { AlertMailboxInput } from '@portal/domain/tenders/alert-mailbox';
import { alertLimits } from '@portal/domain/tenders/alert-mailbox';
import type { TenderFilters } from '@portal/domain/tenders/filters';
import { mailboxSource } from '@portal/domain/tenders/sources';
import { DAY, HOUR } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { alertMailboxForm, grantTenderRadar } from '@portal/testing/alert-mailboxes';
import { alertAbout, alertMail, alertTable } from '@portal/testing/alert-mails';
import { testRuntime } from '@portal/testing/runtime';
import { startDovecot } from '@portal/testing/servers/dovecot';
import { openImapGate } from '@portal/testing/servers/imap-gate';
import { serviceBinary } from '@portal/testing/services';
import { noticeRecord } from '@portal/testing/tender-notices';
import { the } from '@portal/testing/the';
import { startTestWorker } from '@portal/testing/worker';
import { tenders } from '../area.ts';
import { getTender } from '../get-tender.ts';
import { tenderHandlers } from '../handlers.ts';
import { listTenders } from '../list-tenders.ts';
import { listSources, runSource } from '../sources.ts';
import { storeNotices } from '../store-notices.ts';
import { tenderFacets } from '../tender-facets.ts';
import { fetchAlertMailsOf, type FetchLimits } from './fetch-mails.ts';
import { deleteAlertMailbox, getAlertMailbox, putAlertMailbox } from './mailbox.ts';
import { claimMailbox } from './reading.ts';
import { startDueAlertMails } from './start-due-fetches.ts';
import { testAlertMailbox } from './test-mailbox.ts';

const hasDovecot = serviceBinary('dovecot') !== null;
const env = { OUTBOUND_ALLOW_HOSTS: '127.0.0.1' };
const { make, signedIn, system, runtime, url, config } = await testRuntime(env);
const across = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => runtime.database.acrossTenants('a test reads', work);

async function person(): Promise<UserContext> {
  const ctx = await signedIn(await make.user({}));
  await grantTenderRadar(ctx, ctx.actor.id);
  return ctx;
}
const rowOf = async (ctx: UserContext) =>
  the((await across((tx) => tx.select().from(tenderMailboxes).where(eq(tenderMailboxes.userId, ctx.actor.id))))[0]);
const sourceOf = async (ctx: UserContext) =>
  the(
    (
      await across((tx) =>
        tx
          .select()
          .from(tenderSources)
          .where(eq(tenderSources.key, mailboxSource(ctx.actor.id))),
      )
    )[0],
  );
const noticesOf = (ctx: UserContext) =>
  across((tx) =>
    tx
      .select()
      .from(tenderNotices)
      .where(eq(tenderNotices.sourceKey, mailboxSource(ctx.actor.id)))
      .orderBy(tenderNotices.id),
  );
const fetchNow = (ctx: UserContext, limits: Partial<FetchLimits> = {}, signal = new AbortController().signal) =>
  fetchAlertMailsOf(ctx, ctx.actor.id, { signal }, { ...alertLimits, ...limits });

const everything = { version: 1, combine: 'all', includeRss: true } satisfies TenderFilters;
const asked = (filters: Partial<TenderFilters> = {}) => ({
  filters: { ...everything, ...filters },
  window: {},
  triage: {},
});
const listed = async (ctx: UserContext, filters: Partial<TenderFilters> = {}) =>
  (await listTenders(ctx, { ...asked(filters), sort: 'published', limit: 100 })).items;

const nowhere = { host: '127.0.0.1', port: 1 };

describe('the settings of an alert mailbox', () => {
  it('are stored with a sealed password, visible only to the account and without the password', async () => {
    const ctx = await person();
    expect(await getAlertMailbox(ctx)).toEqual({
      host: null,
      port: null,
      security: null,
      username: null,
      hasPassword: false,
      folder: null,
      caCertificatePem: null,
      isActive: null,
      isPaused: false,
      lastFetchedAt: null,
      lastError: null,
    });
    const put = await putAlertMailbox(ctx, alertMailboxForm(nowhere, 'ada', { folder: 'Vergabe' }));
    expect(put).toMatchObject({
      host: '127.0.0.1',
      username: 'ada',
      hasPassword: true,
      folder: 'Vergabe',
      isActive: true,
    });
    expect(JSON.stringify(put)).not.toContain('mailbox-secret');
    expect((await rowOf(ctx)).password).toMatch(/^v1:/);
    const colleague = await signedIn(await make.user({ tenantId: ctx.tenantId }));
    expect(await getAlertMailbox(colleague)).toMatchObject({ host: null });
    await putAlertMailbox(colleague, alertMailboxForm(nowhere, 'bob'));
    await deleteAlertMailbox(colleague);
    expect(await getAlertMailbox(ctx)).toMatchObject({ username: 'ada' });
    await deleteAlertMailbox(ctx);
    expect(await getAlertMailbox(ctx)).toMatchObject({ host: null, hasPassword: false });
    expect((await listSources(ctx)).map(({ key }) => key)).not.toContain('mailbox');
  });

  it('keep the password only for the server, account and encryption it was stored for', async () => {
    const ctx = await person();
    const form = { ...alertMailboxForm(nowhere, 'ada'), security: 'starttls' as const };
    await putAlertMailbox(ctx, form);
    const before = await rowOf(ctx);
    const { password: _, ...blank } = form;
    await putAlertMailbox(ctx, { ...blank, password: '********', folder: 'Vergabe', security: 'tls' });
    expect((await rowOf(ctx)).password).toBe(before.password);
    for (const change of [{ host: 'localhost' }, { port: 2 }, { username: 'bob' }, { security: 'none' as const }]) {
      const changed = { ...blank, security: 'tls' as const, password: undefined, ...change };
      await expect(putAlertMailbox(ctx, changed)).rejects.toMatchObject({ code: 'SECRET_REQUIRED' });
      await expect(testAlertMailbox(ctx, changed)).rejects.toMatchObject({ code: 'SECRET_REQUIRED' });
    }
    expect((await putAlertMailbox(ctx, { ...blank, host: 'localhost', password: null })).hasPassword).toBe(false);
  });

  it.each([
    'localhost',
    '10.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    '::ffff:127.0.0.1',
  ])('must not lead to %s', async (host) => {
    const ctx = await person();
    const form = { ...alertMailboxForm(nowhere, 'ada'), host, port: 143 };
    // Other notations of the one allowed address are allowed, too.
    const isAllowed = host === '0x7f.1' || host === '2130706433';
    expect(await testAlertMailbox(ctx, form)).toMatchObject({ ok: false, error: 'unreachable' });
    if (isAllowed) return;
    expect((await testAlertMailbox(ctx, form)).message).toMatch(
      /not at an address that the portal may call|could not be found/,
    );
    await putAlertMailbox(ctx, form);
    await fetchNow(ctx);
    expect(await getAlertMailbox(ctx)).toMatchObject({ lastError: 'unreachable' });
  });

  it('can be tested ten times a minute, each recorded without the username', async () => {
    const ctx = await person();
    const form = alertMailboxForm(nowhere, 'ada@private.example');
    for (let n = 0; n < 10; n += 1) expect((await testAlertMailbox(ctx, form)).error).toBe('unreachable');
    await expect(testAlertMailbox(ctx, form)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    const entries = await ctx.read((db) => db.select().from(auditEntries));
    expect(entries.filter(({ action }) => action === 'tender-mailbox.test')).toHaveLength(10);
    expect(JSON.stringify(entries)).toContain('127.0.0.1:1');
    expect(JSON.stringify(entries)).not.toContain('private.example');
  });
});

describe('due mailboxes', () => {
  it('are started once by several workers, again in ten minutes, and not while account, tenant or mailbox is inactive', async () => {
    const people = await Promise.all([person(), person(), person(), person()]);
    const [active, off, inactive, inInactiveTenant] = people;
    for (const ctx of people) await putAlertMailbox(ctx, alertMailboxForm(nowhere, 'ada', { isActive: ctx !== off }));
    await across((tx) =>
      tx
        .update(users)
        .set({ isActive: false })
        .where(eq(users.id, the(inactive).actor.id)),
    );
    await across((tx) =>
      tx
        .update(tenants)
        .set({ isActive: false })
        .where(eq(tenants.id, the(inInactiveTenant).tenantId)),
    );
    const nudged: unknown[] = [];
    const recording = { ...system(), enqueue: async (_job: unknown, payload: unknown) => void nudged.push(payload) };
    await Promise.all(Array.from({ length: 5 }, () => startDueAlertMails(recording)));
    const mine = people.map(
      ({ actor }) => nudged.filter((one) => (one as { userId: string }).userId === actor.id).length,
    );
    expect(mine).toEqual([1, 0, 0, 0]);
    const [row] = await across((tx) =>
      tx
        .select({ sec: sql<number>`extract(epoch from ${tenderMailboxes.nextFetchAt} - now())::float8` })
        .from(tenderMailboxes)
        .where(eq(tenderMailboxes.userId, the(active).actor.id)),
    );
    expect(row?.sec).toBeGreaterThan(590);
    expect(row?.sec).toBeLessThan(621);
  });
});

describe.skipIf(!hasDovecot)('an alert mailbox', async () => {
  if (!hasDovecot) return;
  const dovecot = await startDovecot();
  const gate = await openImapGate(dovecot);
  afterEach(() => {
    gate.setFault(null);
    gate.onCommand = null;
  });
  afterAll(async () => {
    await gate.stop();
    await dovecot.stop();
  });

  let people = 0;
  /** A user with a mailbox of these mails, reached through the gate. */
  async function reader(mails: (string | Uint8Array)[] = [], more: Partial<AlertMailboxInput> = {}) {
    const ctx = await person();
    people += 1;
    const name = `ada${people}`;
    await dovecot.makeFolder(name, 'INBOX');
    for (const mail of mails) await dovecot.deliver(name, mail);
    const form = alertMailboxForm({ ...gate, password: dovecot.password }, name, more);
    await putAlertMailbox(ctx, form);
    return { ctx, name, form };
  }

  it('gives tenders that only its owner sees, and is not changed', async () => {
    const { ctx, name } = await reader([alertMail({ html: alertTable(2) }), alertMail({ text: 'Werbung' })]);
    const before = await dovecot.mails(name);
    await fetchNow(ctx);
    expect(await dovecot.mails(name)).toEqual(before);
    expect(gate.takeCommands().join('\n')).not.toMatch(/STORE|EXPUNGE|SELECT|COPY|MOVE|BODY\[/);
    const found = await listed(ctx);
    expect(found).toMatchObject([
      { title: 'Sanierung der Grundschule 2', sourcePortal: 'mailbox', sourceNoticeId: 'cosinex:CXP4TABLE02' },
      { title: 'Sanierung der Grundschule 1', buyerName: 'Gemeinde 1', deadlineAt: expect.any(Date) },
    ]);
    const id = the(found[0]).id;
    expect(await getTender(ctx, id)).toMatchObject({
      description: null,
      sourceUrl: 'https://www.dtvp.de/Satellite/notice/CXP4TABLE02',
      alsoAt: [],
    });
    expect(await listed(ctx, { sources: ['mailbox'] })).toHaveLength(2);
    expect(await listed(ctx, { sources: ['ted'] })).toEqual([]);
    expect((await tenderFacets(ctx, asked())).sources).toEqual([{ key: 'mailbox', count: 2 }]);
    expect(await listSources(ctx)).toContainEqual({
      key: 'mailbox',
      name: 'Eigenes Postfach',
      lastRunAt: expect.any(Date),
      lastSuccessAt: expect.any(Date),
      state: 'ok',
      newCount: 2,
      error: null,
    });
    await expect(runSource(ctx, 'mailbox')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    // A colleague, a user of another tenant, and an administrator of the same tenant.
    const admin = await signedIn(await make.user({ tenantId: ctx.tenantId, role: 'ADMIN' }));
    for (const other of [await signedIn(await make.user({ tenantId: ctx.tenantId })), await person(), admin]) {
      expect(await listed(other)).toEqual([]);
      expect((await tenderFacets(other, asked())).sources).toEqual([]);
      expect((await listSources(other)).map(({ key }) => key)).not.toContain('mailbox');
      await expect(getTender(other, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    // No row contains personal data of the recipient.
    const notices = await noticesOf(ctx);
    const payloads = await across((tx) =>
      tx
        .select({ format: tenderPayloads.format })
        .from(tenderPayloads)
        .where(
          inArray(
            tenderPayloads.noticeId,
            notices.map(({ id: noticeId }) => noticeId),
          ),
        ),
    );
    expect(payloads.map(({ format }) => format)).toEqual(['mail', 'mail']);
    expect(JSON.stringify(notices)).not.toMatch(/4711|uid=|Ada|example\.org/);
    // The tenders stay when the mailbox is deleted.
    await deleteAlertMailbox(ctx);
    expect(await listed(ctx)).toHaveLength(2);
  });

  it('is read seven days back at first, and then for new mails', async () => {
    const { ctx, name } = await reader();
    const ago = (days: number) => new Date(Date.now() - days * DAY);
    await dovecot.deliver(name, alertAbout(101), 'INBOX', { receivedAt: ago(30) });
    await dovecot.deliver(name, alertAbout(102), 'INBOX', { receivedAt: ago(9) });
    await dovecot.deliver(name, alertAbout(103), 'INBOX', { receivedAt: ago(6) });
    await dovecot.deliver(name, alertAbout(104));
    await fetchNow(ctx);
    const keys = async () => (await noticesOf(ctx)).map(({ noticeKey }) => noticeKey);
    expect(await keys()).toEqual(['subreport:E10000103', 'subreport:E10000104']);
    expect(await rowOf(ctx)).toMatchObject({ lastUid: 4, uidValidity: expect.stringMatching(/^\d+$/), claim: null });
    gate.takeCommands();
    await fetchNow(ctx);
    // No commands for mails known by their UID.
    expect(gate.takeCommands().join('\n')).not.toMatch(/FETCH|SEARCH/);
    await dovecot.deliver(name, alertAbout(105));
    await fetchNow(ctx);
    expect(await keys()).toHaveLength(3);
  });

  it('without recent mails is read from its next mail on', async () => {
    const { ctx, name } = await reader();
    await dovecot.deliver(name, alertAbout(111), 'INBOX', { receivedAt: new Date(Date.now() - 30 * DAY) });
    await fetchNow(ctx);
    expect([await noticesOf(ctx), (await rowOf(ctx)).lastUid]).toEqual([[], 1]);
    await dovecot.deliver(name, alertAbout(112));
    await fetchNow(ctx);
    expect(await noticesOf(ctx)).toHaveLength(1);
  });

  it('completes its first reading only when no mail is left, after several runs', async () => {
    const { ctx } = await reader(Array.from({ length: 5 }, (_, n) => alertAbout(200 + n)));
    for (const left of [3, 1]) {
      await fetchNow(ctx, { mails: 2 });
      expect(await noticesOf(ctx)).toHaveLength(5 - left);
      expect((await sourceOf(ctx)).lastSuccessAt).toBeNull();
      const [due] = await across((tx) =>
        tx
          .select({ isDue: sql<boolean>`${tenderMailboxes.nextFetchAt} <= now()` })
          .from(tenderMailboxes)
          .where(eq(tenderMailboxes.userId, ctx.actor.id)),
      );
      expect(due?.isDue).toBe(true);
    }
    await fetchNow(ctx, { mails: 2 });
    expect((await sourceOf(ctx)).lastSuccessAt).toBeInstanceOf(Date);
    expect((await getAlertMailbox(ctx)).lastFetchedAt).toBeInstanceOf(Date);
    // Another mailbox starts again.
    const form = alertMailboxForm({ ...gate, password: dovecot.password }, 'somebody-else');
    await putAlertMailbox(ctx, form);
    expect((await sourceOf(ctx)).lastSuccessAt).toBeNull();
  });

  it('with 10,000 mails is read in runs of fifty', async () => {
    const { ctx, name } = await reader();
    await dovecot.deliver(name, alertAbout(250), 'INBOX', { copies: 10_000 });
    await fetchNow(ctx);
    expect(await rowOf(ctx)).toMatchObject({ lastUid: 50, lastError: null });
    await fetchNow(ctx, { mails: 1 });
    expect(await rowOf(ctx)).toMatchObject({ lastUid: 51 });
    // All mails contain the same notice.
    expect(await noticesOf(ctx)).toHaveLength(1);
  });

  it('stores nothing twice after a change of UIDs or of the mailbox', async () => {
    const mails = [alertAbout(301), alertAbout(302)];
    const { ctx, name, form } = await reader(mails);
    await fetchNow(ctx);
    const before = await noticesOf(ctx);
    const { uidValidity } = await rowOf(ctx);
    await dovecot.renumber(name);
    await dovecot.deliver(name, alertAbout(303));
    await fetchNow(ctx);
    expect((await rowOf(ctx)).uidValidity).not.toBe(uidValidity);
    const after = await noticesOf(ctx);
    expect(after).toHaveLength(3);
    expect(after.slice(0, 2)).toEqual(before);
    for (const mail of mails) await dovecot.deliver(`${name}-neu`, mail);
    await putAlertMailbox(ctx, { ...form, username: `${name}-neu` });
    expect(await rowOf(ctx)).toMatchObject({ uidValidity: null, lastUid: null });
    await fetchNow(ctx);
    expect(await noticesOf(ctx)).toEqual(after);
    expect(await listed(ctx)).toHaveLength(3);
  });

  it.each([
    ['changed', (ctx: UserContext, form: AlertMailboxInput) => putAlertMailbox(ctx, { ...form, folder: 'Anders' })],
    ['saved unchanged', (ctx: UserContext, form: AlertMailboxInput) => putAlertMailbox(ctx, form)],
    ['deleted', (ctx: UserContext) => deleteAlertMailbox(ctx)],
    ['taken over by another worker', (ctx: UserContext) => fetchNow(ctx, { mails: 0 })],
  ])('stores nothing of a reading during which it was %s', async (_how, change) => {
    const { ctx, form } = await reader([alertAbout(401)]);
    let isChanged = false;
    gate.onCommand = async (line) => {
      if (isChanged || !/BODY\.PEEK\[\]/.test(line)) return;
      isChanged = true;
      await change(ctx, form);
    };
    await fetchNow(ctx);
    expect(isChanged).toBe(true);
    expect(await noticesOf(ctx)).toEqual([]);
  });

  it('skips a mail after the server failed to deliver it three times', async () => {
    const { ctx } = await reader([alertAbout(501), alertAbout(502), alertAbout(503)]);
    gate.setFault({ kind: 'drop', at: /UID FETCH 2 / });
    for (const tries of [1, 2]) {
      await fetchNow(ctx);
      expect(await rowOf(ctx)).toMatchObject({ lastUid: 1, triedUid: 2, tries, lastError: 'unreachable' });
    }
    gate.setFault({ kind: 'stall', at: /UID FETCH 2 / });
    await fetchNow(ctx, { inAllMs: 700 });
    expect(await rowOf(ctx)).toMatchObject({ lastUid: 2, triedUid: null, tries: 0, lastError: 'timeout' });
    await fetchNow(ctx);
    expect((await noticesOf(ctx)).map(({ noticeKey }) => noticeKey)).toEqual([
      'subreport:E10000501',
      'subreport:E10000503',
    ]);
    expect(await rowOf(ctx)).toMatchObject({ lastUid: 3, lastError: null });
  });

  it('skips a mail that takes too long to parse three times, and reports that', async () => {
    const { ctx, name } = await reader([alertMail({ html: '<p>Los</p>'.repeat(150_000) })]);
    for (const tries of [1, 2]) {
      await fetchNow(ctx, { readMs: 1 });
      expect(await rowOf(ctx)).toMatchObject({ lastUid: 0, tries, lastError: null });
    }
    await fetchNow(ctx, { readMs: 1 });
    expect(await rowOf(ctx)).toMatchObject({ lastUid: 1, tries: 0 });
    expect((await sourceOf(ctx)).error).toBe('One mail could not be read and was left out.');
    await dovecot.deliver(name, alertAbout(512));
    await fetchNow(ctx);
    expect(await noticesOf(ctx)).toHaveLength(1);
    expect((await sourceOf(ctx)).error).toBeNull();
  });

  it('fetches only the beginning of a mail of 30 MB, and tolerates broken mails', async () => {
    const { ctx } = await reader([
      alertAbout(601, { attachedBytes: 30 * 1024 * 1024 }),
      Buffer.from([0, 1, 2, 255, 13, 10, 13, 10, 200]),
      'Content-Type: multipart/mixed; boundary=none\r\n\r\n--other\r\n',
      alertAbout(602).slice(0, -60),
      alertAbout(603),
    ]);
    gate.takeCommands();
    await fetchNow(ctx);
    expect((await noticesOf(ctx)).map(({ noticeKey }) => noticeKey)).toEqual([
      'subreport:E10000601',
      'subreport:E10000602',
      'subreport:E10000603',
    ]);
    expect(gate.takeCommands().join('\n')).toContain(`BODY.PEEK[]<0.${alertLimits.mailBytes + 1}>`);
    expect(await rowOf(ctx)).toMatchObject({ lastUid: 5, lastError: null });
  });

  it('is paused after three refused sign-ins, until it is saved again', async () => {
    const { ctx, form } = await reader([alertAbout(701)], { password: 'wrong' });
    for (const isPaused of [false, false, true]) {
      await fetchNow(ctx);
      expect(await getAlertMailbox(ctx)).toMatchObject({ isPaused, isActive: true, lastError: 'unauthorized' });
    }
    expect((await rowOf(ctx)).nextFetchAt).toBeNull();
    const before = gate.connections();
    await fetchNow(ctx);
    expect(gate.connections()).toBe(before);
    await putAlertMailbox(ctx, { ...form, password: dovecot.password });
    expect(await getAlertMailbox(ctx)).toMatchObject({ isPaused: false, lastError: null });
    await fetchNow(ctx);
    expect(await noticesOf(ctx)).toHaveLength(1);
  });

  it('resets refused sign-ins after a successful one', async () => {
    const { ctx } = await reader([alertAbout(1)]);
    await across((tx) =>
      tx.update(tenderMailboxes).set({ refusals: 2 }).where(eq(tenderMailboxes.userId, ctx.actor.id)),
    );
    gate.setFault({ kind: 'drop', at: /SEARCH/ });
    await fetchNow(ctx);
    expect(await rowOf(ctx)).toMatchObject({ refusals: 0, lastError: 'unreachable' });
  });

  describe('whose reading never ended', () => {
    /** The state after a process died during a reading. */
    const breakOff = (ctx: UserContext) =>
      across((tx) =>
        tx.update(tenderMailboxes).set({ claim: newId() }).where(eq(tenderMailboxes.userId, ctx.actor.id)),
      );
    const inHour = async (ctx: UserContext) =>
      Math.round(((await rowOf(ctx)).nextFetchAt?.getTime() ?? 0) / HOUR - Date.now() / HOUR) === 1;

    it('is paused for an hour the second time', async () => {
      const { ctx } = await reader([alertAbout(170)]);
      await breakOff(ctx);
      await claimMailbox(ctx, ctx.actor.id);
      expect(await inHour(ctx)).toBe(false);
      const before = gate.connections();
      await fetchNow(ctx);
      expect(gate.connections()).toBe(before);
      expect([await inHour(ctx), await rowOf(ctx)]).toEqual([
        true,
        expect.objectContaining({ claim: null, lastError: 'protocol' }),
      ]);
      expect((await sourceOf(ctx)).error).toContain('asked again in an hour');
      await fetchNow(ctx);
      expect(await rowOf(ctx)).toMatchObject({ claim: null, lastError: null });
    });

    it('is read at once the first time, and marked as broken meanwhile', async () => {
      const { ctx } = await reader([alertAbout(171)]);
      await breakOff(ctx);
      const storedErrors: unknown[] = [];
      gate.onCommand = async (line) => {
        if (/EXAMINE/.test(line)) storedErrors.push((await rowOf(ctx)).lastError);
      };
      await fetchNow(ctx);
      expect(storedErrors).toEqual(['protocol']);
      expect(await rowOf(ctx)).toMatchObject({ claim: null, lastError: null });
      expect(await noticesOf(ctx)).toHaveLength(1);
    });

    it('because the worker stopped does not count as broken', async () => {
      const { ctx } = await reader([alertAbout(172)]);
      for (let n = 0; n < 3; n += 1) {
        const stop = new AbortController();
        gate.onCommand = (line) => {
          if (/EXAMINE/.test(line)) stop.abort(new Error('the worker ends'));
        };
        await expect(fetchNow(ctx, {}, stop.signal)).rejects.toThrow('the worker ends');
        expect(await rowOf(ctx)).toMatchObject({ claim: null, lastError: null });
      }
    });
  });

  describe('reports why it cannot be read', () => {
    const server = { ...gate, password: dovecot.password };
    it.each<[string, Partial<AlertMailboxInput>, () => void, string]>([
      ['a wrong password', { password: 'wrong' }, () => undefined, 'unauthorized'],
      ['no password', { password: null }, () => undefined, 'unauthorized'],
      ['an unknown folder', { folder: 'Nirgends' }, () => undefined, 'folderMissing'],
      ['TLS at a plain port', { security: 'tls' }, () => undefined, 'protocol'],
      ['an untrusted certificate', { port: dovecot.tlsPort, security: 'tls' }, () => undefined, 'certificate'],
      ['an untrusted certificate after STARTTLS', { security: 'starttls' }, () => undefined, 'certificate'],
      ['a closed port', { port: 1 }, () => undefined, 'unreachable'],
      ['a greeting that never arrives', {}, () => gate.setFault({ kind: 'stall', at: 'greeting' }), 'timeout'],
      ['an answer that never arrives', {}, () => gate.setFault({ kind: 'stall', at: /EXAMINE/ }), 'timeout'],
      ['a connection that breaks', {}, () => gate.setFault({ kind: 'drop', at: /EXAMINE/ }), 'unreachable'],
    ])('with %s', async (_title, more, prepare, error) => {
      const ctx = await person();
      const form = alertMailboxForm(server, 'jemand', more);
      await dovecot.makeFolder('jemand', 'INBOX');
      prepare();
      // A busy machine may take longer than that for the other answers.
      const limitMs = error === 'timeout' ? 700 : 10_000;
      expect(await testAlertMailbox(ctx, form, { testMs: limitMs })).toMatchObject({ ok: false, error });
      await putAlertMailbox(ctx, form);
      const startedAt = performance.now();
      await fetchNow(ctx, { inAllMs: limitMs });
      expect(performance.now() - startedAt).toBeLessThan(5_000);
      expect(await getAlertMailbox(ctx)).toMatchObject({ lastError: error, lastFetchedAt: null });
      const shown = (await listSources(ctx)).find(({ key }) => key === 'mailbox');
      expect(shown).toMatchObject({ state: 'failed', error: expect.stringMatching(/^The mail server /) });
      expect(JSON.stringify(shown)).not.toMatch(/wrong|mailbox-secret/);
    });

    it('and reports success otherwise', async () => {
      const { ctx, form } = await reader();
      expect(await testAlertMailbox(ctx, form)).toMatchObject({ ok: true, error: null });
      const tls = { ...form, port: dovecot.tlsPort, security: 'tls' as const, password: dovecot.password };
      const { caCertificatePem } = dovecot;
      expect(await testAlertMailbox(ctx, { ...tls, host: '127.0.0.1', caCertificatePem })).toMatchObject({ ok: true });
    });
  });

  it('is not read for an account without access to the module', async () => {
    const { ctx } = await reader([alertAbout(801)]);
    await ctx.tx((tx) => tx.insert(disabledModules).values({ tenantId: ctx.tenantId, moduleKey: 'tender-radar' }));
    const other = await reader([alertAbout(802)]);
    await across((tx) => tx.delete(moduleGrants).where(eq(moduleGrants.userId, other.ctx.actor.id)));
    const before = gate.connections();
    await fetchNow(ctx);
    await fetchNow(other.ctx);
    expect(gate.connections()).toBe(before);
  });

  it('gives two accounts separate tenders of one procurement, until a public source lists it', async () => {
    const mails = [alertAbout(901)];
    const [one, other] = [await reader(mails), await reader(mails)];
    await fetchNow(one.ctx);
    await fetchNow(other.ctx);
    const [mine] = await listed(one.ctx);
    const [theirs] = await listed(other.ctx);
    expect(mine?.id).not.toBe(theirs?.id);
    const official = noticeRecord({ title: 'Reinigung, amtlich', portalIds: ['subreport:E10000901'] });
    const { tenderIds } = await storeNotices(system(), [official]);
    // Other tests expect a database without public tenders.
    onTestFinished(() =>
      across(async (tx) => void (await tx.delete(tenderRows).where(inArray(tenderRows.id, tenderIds)))),
    );
    for (const ctx of [one.ctx, other.ctx]) {
      const found = await listed(ctx);
      expect(found).toMatchObject([{ title: 'Reinigung, amtlich', sourcePortal: 'oeffentlichevergabe' }]);
      expect((await getTender(ctx, the(found[0]).id)).alsoAt).toMatchObject([
        { sourcePortal: 'mailbox', sourceUrl: 'https://www.subreport.de/E10000901' },
      ]);
      expect(await listed(ctx, { sources: ['mailbox'] })).toHaveLength(1);
    }
    const stranger = await person();
    const shown = await listed(stranger);
    expect(shown).toMatchObject([{ title: 'Reinigung, amtlich' }]);
    expect((await getTender(stranger, the(shown[0]).id)).alsoAt).toEqual([]);
    expect(await listed(stranger, { sources: ['mailbox'] })).toEqual([]);
  });

  it('is read by a worker when it is due', async () => {
    const { ctx } = await reader([alertAbout(951)]);
    const worker = startTestWorker(
      url,
      { handlers: tenderHandlers, concurrency: tenders.concurrency ?? {} },
      { env: { ...env, DATA_DIR: config.dataDir } },
    );
    try {
      await startDueAlertMails(worker.runtime.system({ requestId: 'test', ip: null, userAgent: null }));
      await expect.poll(async () => (await noticesOf(ctx)).length, { timeout: 15_000 }).toBe(1);
    } finally {
      await worker.stop();
    }
  });
});
