import { and, eq, inArray, like, sql } from 'drizzle-orm';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { disabledModules, moduleGrants } from '@portal/db/schema/modules';
import { mails } from '@portal/db/schema/platform/mails';
import { tenants } from '@portal/db/schema/tenants';
import { tenderChangeNotices, tenderMatches } from '@portal/db/schema/tenders/matches';
import { savedSearches } from '@portal/db/schema/tenders/saved-searches';
import { newId } from '@portal/domain/ids';
import { TenderFilters } from '@portal/domain/tenders/filters';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import type { UserContext } from '@portal/platform/context';
import { deliverDueMails } from '@portal/platform/outbox/deliver-due-mails';
import { kinds } from '@portal/testing/mail-kinds';
import { testConfig, testRuntime } from '@portal/testing/runtime';
import { type ReceivedMail, type SmtpTrouble, startSmtpServer } from '@portal/testing/servers/smtp-server';
import { noticeRecord } from '@portal/testing/tender-notices';
import { jobOrigin } from '@portal/testing/worker';
import { requestReset } from '../../accounts/password-reset.ts';
import { storeNotices } from '../store-notices.ts';
import { triageTender } from '../triage.ts';
import { compiledColumns } from './compile-search.ts';
import { matchNewTenders } from './match-tenders.ts';
import { setNotificationPreference } from './preference.ts';
import { createSavedSearch, deleteSavedSearch, updateSavedSearch } from './saved-searches.ts';
import { startDueTenderAlerts } from './start-due-alerts.ts';
import { subscriptionOf, unsubscribe } from './unsubscribe.ts';

const { url, runtime, system, make, signedIn } = await testRuntime();
let trouble: ((mail: ReceivedMail) => SmtpTrouble | undefined | void) | undefined;
const server = await startSmtpServer({
  failures: (step) => (step.at === 'message' ? (trouble?.(step.mail) ?? undefined) : undefined),
});
afterAll(() => server.stop());
afterEach(() => {
  trouble = undefined;
});
const across = runtime.database.acrossTenants;
const { signal } = new AbortController();
const settings = {
  SMTP_HOST: '127.0.0.1',
  SMTP_PORT: `${server.port}`,
  SMTP_SECURITY: 'none',
  SMTP_FROM: 'p@example.org',
  PUBLIC_URL: 'https://portal.example',
};
const config = testConfig(url, settings);

/** A user with a grant for the module. */
async function person(overrides: Parameters<typeof make.user>[0] = {}): Promise<UserContext> {
  const user = await make.user(overrides);
  const ctx = await signedIn(user);
  await ctx.tx((tx) =>
    tx
      .insert(moduleGrants)
      .values({ id: newId(), tenantId: ctx.tenantId, userId: user.id, moduleKey: 'tender-radar', level: 'USE' }),
  );
  return ctx;
}
const save = (ctx: UserContext, name: string, filters: object, instantAlert = false) =>
  createSavedSearch(ctx, { name, filters: TenderFilters.parse(filters), instantAlert });
const words = (...all: string[]) => ({ text: { all } });
const recent = new Date(Date.now() - 3_600_000).toISOString();
const call = (title: string, overrides: Partial<NoticeRecord> = {}) =>
  noticeRecord({ title, publishedAt: recent, ...overrides });
async function ingest(...records: NoticeRecord[]): Promise<string[]> {
  const { tenderIds } = await storeNotices(system(), records);
  await matchNewTenders(system(), signal);
  return tenderIds;
}
const queueAlerts = () => startDueTenderAlerts(system(), signal);
const deliver = ({ tenantId }: { tenantId: string }, changed: Record<string, string> = {}) =>
  deliverDueMails(
    { ...runtime.tenant(jobOrigin(), tenantId), config: testConfig(url, { ...settings, ...changed }) },
    { signal, kinds },
  );
/** Moves everything found so far before the last digest time, and queued digests to another day. */
const letDaysPass = (days = 1) =>
  across('a test lets time pass', async (tx) => {
    const ago = sql`now() - make_interval(days => ${days}, mins => 10)`;
    await tx.update(tenderMatches).set({ matchedAt: ago });
    await tx.update(tenderChangeNotices).set({ noticedAt: ago });
    await tx
      .update(mails)
      .set({ key: sql`${mails.key} || '/' || ${newId()}::text` })
      .where(like(mails.key, 'tenders/digest/%'));
  });
const letPausePass = () =>
  across('a test lets time pass', (tx) =>
    tx
      .update(mails)
      .set({ dueAt: sql`now()` })
      .where(inArray(mails.state, ['queued', 'sending'])),
  );
const received = (ctx: UserContext) => server.messages.filter(({ envelopeTo }) => envelopeTo[0] === ctx.account.email);
/** Sends everything that is due. Returns the mails received. */
async function alerted(ctx: UserContext): Promise<ReceivedMail[]> {
  const before = received(ctx).length;
  await queueAlerts();
  await deliver(ctx);
  return received(ctx).slice(before);
}
const nextDigest = async (ctx: UserContext) => {
  await letDaysPass();
  return alerted(ctx);
};
const statesOf = (ctx: UserContext) =>
  ctx.tx(async (tx) => {
    const { rows } = await tx.execute<{ is: string }>(
      sql`select case when m.notified_at is null then 'unsent' when m.is_told then 'sent' else 'dismissed' end as "is"
        from ${tenderMatches} m join saved_searches s on s.id = m.search_id where s.user_id = ${ctx.actor.id} order by lower(s.name), m.matched_at`,
    );
    return rows.map((row) => row.is).toSorted();
  });
const lastMail = (ctx: UserContext) =>
  ctx.tx((tx) =>
    tx
      .select({ state: mails.state, failure: mails.failure })
      .from(mails)
      .where(eq(mails.userId, ctx.actor.id))
      .orderBy(sql`${mails.createdAt} desc, ${mails.id} desc`)
      .limit(1),
  );
const unsubscribeToken = (mail: ReceivedMail | undefined): string =>
  /<https:\/\/portal\.example\/unsubscribe\/([^>]+)>/.exec(mail?.headers.get('list-unsubscribe') ?? '')?.[1] ?? '';

describe('a digest', () => {
  it('lists new tenders once, under the first search that found them', async () => {
    const ctx = await person();
    await save(ctx, 'Beta', words('ahornsirup'));
    await save(ctx, 'alpha', { text: { any: ['ahornsirup', 'honig'] } });
    await ingest(
      call('Ahornsirup', {
        region: '50667 Köln',
        valueCents: 48_000_000,
        currency: 'EUR',
        deadlines: [{ kind: 'tender', lotId: null, at: '2999-12-18T10:00:00.000Z', isDateOnly: false }],
      }),
      call('Honig', { buyerName: null, deadlines: [] }),
    );
    expect(await alerted(ctx)).toEqual([]);
    const [mail, ...others] = await nextDigest(ctx);
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ subject: '2 neue Ausschreibungen' });
    const text = mail?.text ?? '';
    expect(text.match(/Ahornsirup$/gm)).toHaveLength(1);
    expect(text).toMatch(/Suche „alpha“:[^]*Ahornsirup[^]*Auch in:\s+Beta/);
    expect(text).not.toContain('Suche „Beta“');
    expect(text).toMatch(/Frist:\s+Mi\., 18\.12\.2999, 11:00 Uhr/);
    expect(text).toMatch(/480\.000\s€/);
    expect(text).toMatch(/Gefunden wegen:\s+ahornsirup/);
    expect(text).toMatch(/Ort:\s+50667 Köln/);
    expect(await statesOf(ctx)).toEqual(['sent', 'sent', 'sent']);
    expect(await nextDigest(ctx)).toEqual([]);
  });

  it('has a one-click unsubscribe link, which stays valid after a key rotation', async () => {
    const ctx = await person();
    await save(ctx, 'Suche', words('bohnenkraut'));
    await ingest(call('Bohnenkraut 1'));
    const [mail] = await nextDigest(ctx);
    expect(mail?.headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    const token = unsubscribeToken(mail);
    expect(mail?.text).toContain(`https://portal.example/unsubscribe/${token}`);
    const rotated = {
      ...system(),
      config: testConfig(url, {
        SESSION_SECRET: `new:${Buffer.alloc(32, 7).toString('base64')},test:${Buffer.alloc(32).toString('base64')}`,
      }),
    };
    expect(await subscriptionOf(rotated, token)).toBe('digest');
    const [key, payload = '', signature] = token.split('.');
    const swapped = `${key}.${Buffer.concat([Buffer.from([1]), Buffer.from(payload, 'base64url').subarray(1)]).toString('base64url')}.${signature}`;
    for (const wrong of [
      '',
      'x',
      `${token}x`,
      token.slice(0, -2),
      `other.${payload}.${signature}`,
      swapped,
      `${token}.x`,
    ])
      await expect(unsubscribe(rotated, wrong)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await ingest(call('Bohnenkraut 2'));
    expect(await unsubscribe(rotated, token)).toBe('digest');
    expect(await unsubscribe(rotated, token)).toBe('digest');
    expect(await statesOf(ctx)).toEqual(['dismissed', 'sent']);
    await ingest(call('Bohnenkraut 3'));
    expect(await nextDigest(ctx)).toEqual([]);
    // Matches found in the meantime are not sent later.
    await setNotificationPreference(ctx, { digest: 'daily' });
    expect(await nextDigest(ctx)).toEqual([]);
    await ingest(call('Bohnenkraut 4'));
    expect((await nextDigest(ctx)).map(({ subject }) => subject)).toEqual(['1 neue Ausschreibung']);
    await across('a test deletes', (tx) => tx.delete(users).where(eq(users.id, ctx.actor.id)));
    await expect(subscriptionOf(rotated, token)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(unsubscribe(rotated, token)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('comes once a week if the account chose so', async () => {
    const ctx = await person();
    await save(ctx, 'Suche', words('currypulver'));
    await setNotificationPreference(ctx, { digest: 'weekly' });
    await ingest(call('Currypulver'));
    expect(await alerted(ctx)).toEqual([]);
    await letDaysPass(8);
    expect(await alerted(ctx)).toHaveLength(1);
    expect(await alerted(ctx)).toEqual([]);
  });

  it('is queued once a day, even by several workers', async () => {
    const ctx = await person();
    await save(ctx, 'Suche', words('dillsamen'));
    await ingest(call('Dillsamen'));
    await letDaysPass();
    await Promise.all([queueAlerts(), queueAlerts(), queueAlerts()]);
    await ingest(call('Dillsamen zwei'));
    await across('a test lets time pass', (tx) =>
      tx.update(tenderMatches).set({ matchedAt: sql`now() - interval '2 days'` }),
    );
    await Promise.all([queueAlerts(), queueAlerts()]);
    await Promise.all([deliver(ctx), deliver(ctx)]);
    expect(received(ctx)).toHaveLength(1);
    expect(await statesOf(ctx)).toEqual(['sent', 'unsent']);
  });

  it('lists fifty tenders and counts the rest; all of them become sent', async () => {
    const ctx = await person();
    await save(ctx, 'Suche', words('estragon'));
    await ingest(...Array.from({ length: 63 }, (_, n) => call(`Estragon ${n}`)));
    const [mail] = await nextDigest(ctx);
    expect(mail?.subject).toBe('63 neue Ausschreibungen');
    expect(mail?.text.match(/^Estragon/gm)).toHaveLength(50);
    expect(mail?.text).toContain('Und 13 weitere');
    expect(new Set(await statesOf(ctx))).toEqual(new Set(['sent']));
  });

  it('leaves out tenders that are closed or cancelled by now, and dismisses or sends all of them', async () => {
    const ctx = await person();
    await save(ctx, 'Suche', { ...words('fenchel'), deadline: { minDays: 3 } });
    const over = call('Fenchel vorbei');
    const off = call('Fenchel aufgehoben');
    const near = call('Fenchel bald', {
      deadlines: [
        { kind: 'tender', lotId: null, at: new Date(Date.now() + 4 * 86_400_000).toISOString(), isDateOnly: false },
      ],
    });
    const [overId = '', , nearId = ''] = await ingest(over, off, near, call('Fenchel offen'));
    await letDaysPass();
    await queueAlerts();
    await across('a test lets time pass', async (tx) => {
      await tx.execute(sql`update tender_search set open_until = now() where tender_id = ${overId}`);
      await tx.execute(
        sql`update tender_search set deadline_at = now() + interval '2 days' where tender_id = ${nearId}`,
      );
      await tx.execute(sql`update tender_notices set is_cancelled = true where notice_key = ${off.noticeKey}`);
    });
    await deliver(ctx);
    const [mail] = received(ctx);
    expect(mail?.subject).toBe('1 neue Ausschreibung');
    expect(mail?.text).toContain('Fenchel offen');
    expect(await statesOf(ctx)).not.toContain('unsent');
    expect(await nextDigest(ctx)).toEqual([]);
  });

  it.each([
    ['no address', { email: null }, 'galgant'],
    ['an account switched off', { isActive: false }, 'gelbwurz'],
  ])('does not go to %s, and dismisses its list', async (_title, changes, word) => {
    const ctx = await person();
    await save(ctx, 'Suche', words(word));
    await ingest(call(word));
    const set = (values: object) =>
      across('a test changes an account', (tx) => tx.update(users).set(values).where(eq(users.id, ctx.actor.id)));
    await set(changes);
    expect(await nextDigest(ctx)).toEqual([]);
    expect(await lastMail(ctx)).toEqual([{ state: 'skipped', failure: 'recipient_gone' }]);
    await set({ email: ctx.account.email, isActive: true });
    expect(await nextDigest(ctx)).toEqual([]);
    expect(await statesOf(ctx)).toEqual(['dismissed']);
  });

  it('does not go to an account without access to the module, or of a tenant that switched it off', async () => {
    const [lost, off] = [await person(), await person()];
    for (const ctx of [lost, off]) await save(ctx, 'Suche', words('hagebutte'));
    await ingest(call('Hagebutte'));
    await letDaysPass();
    await queueAlerts();
    // While the digests are queued.
    await across('a test', (tx) => tx.delete(moduleGrants).where(eq(moduleGrants.userId, lost.actor.id)));
    await off.tx((tx) =>
      tx.insert(disabledModules).values({ tenantId: off.tenantId, moduleKey: 'tender-radar' } as never),
    );
    for (const ctx of [lost, off]) {
      await deliver(ctx);
      expect(received(ctx)).toEqual([]);
      expect(await lastMail(ctx)).toEqual([{ state: 'skipped', failure: 'refused' }]);
      expect(await statesOf(ctx)).toEqual(['dismissed']);
    }
  });

  it('dismisses the matches of an inactive tenant', async () => {
    const ctx = await person();
    await save(ctx, 'Suche', words('ingwertee'));
    await ingest(call('Ingwertee 1'));
    await letDaysPass();
    await queueAlerts();
    const setActive = (isActive: boolean) =>
      across('a test', (tx) => tx.update(tenants).set({ isActive }).where(eq(tenants.id, ctx.tenantId)));
    await setActive(false);
    await ingest(call('Ingwertee 2'));
    await queueAlerts();
    await setActive(true);
    expect(await nextDigest(ctx)).toEqual([]);
    expect(await statesOf(ctx)).toEqual(['dismissed']);
  });

  it('moves its list to the next digest when the server refuses it; after two weeks matches are dismissed', async () => {
    const ctx = await person();
    await save(ctx, 'Suche', words('jasmintee'));
    await ingest(call('Jasmintee 1'));
    trouble = () => ({ code: 550, text: 'no' });
    expect(await nextDigest(ctx)).toEqual([]);
    expect(await lastMail(ctx)).toEqual([{ state: 'failed', failure: 'rejected' }]);
    expect(await statesOf(ctx)).toEqual(['unsent']);
    trouble = undefined;
    expect(await alerted(ctx)).toEqual([]);
    expect((await nextDigest(ctx)).map(({ subject }) => subject)).toEqual(['1 neue Ausschreibung']);
    await ingest(call('Jasmintee 2'));
    await letDaysPass(15);
    expect(await alerted(ctx)).toEqual([]);
    expect(await statesOf(ctx)).toEqual(['dismissed', 'sent']);
  });

  it('moves its list to the next digest when there is no mail server', async () => {
    const ctx = await person();
    await save(ctx, 'Suche', words('bockshornklee'));
    await ingest(call('Bockshornklee'));
    await letDaysPass();
    await queueAlerts();
    await deliver(ctx, { SMTP_HOST: '' });
    expect(await lastMail(ctx)).toMatchObject([{ state: 'not_configured' }]);
    expect((await nextDigest(ctx)).map(({ subject }) => subject)).toEqual(['1 neue Ausschreibung']);
  });

  it('moves its list to the next digest when the daily quota is used up', async () => {
    const one = await person();
    const both = [one, await person({ tenantId: one.tenantId })];
    for (const ctx of both) await save(ctx, 'Suche', words('borretsch'));
    await ingest(call('Borretsch'));
    await letDaysPass();
    await queueAlerts();
    await deliver(one, { MAIL_DAILY_PER_TENANT: '1' });
    const ends = await Promise.all(both.map(lastMail));
    expect(
      ends
        .flat()
        .map(({ state }) => state)
        .toSorted(),
    ).toEqual(['quota', 'sent']);
    await nextDigest(one);
    expect(both.map((ctx) => received(ctx).length)).toEqual([1, 1]);
  });

  it('leaves out tenders in the list of an earlier digest that is still queued', async () => {
    const ctx = await person();
    await save(ctx, 'A', words('susswurzel'));
    await ingest(call('Susswurzel 1'));
    trouble = () => ({ code: 451, text: 'later' });
    expect(await nextDigest(ctx)).toEqual([]);
    const { id } = await save(ctx, 'B', { text: { any: ['susswurzel', 'sumach'] } });
    await across('a test makes matches pending', (tx) =>
      tx.update(tenderMatches).set({ notifiedAt: null }).where(eq(tenderMatches.searchId, id)),
    );
    await ingest(call('Sumach'));
    trouble = undefined;
    await letDaysPass();
    await queueAlerts();
    await letPausePass();
    await deliver(ctx);
    const listed = received(ctx).map(({ text }) => text.match(/^(Susswurzel 1|Sumach)$/gm));
    expect(listed.toSorted()).toEqual([['Sumach'], ['Susswurzel 1']]);
  });

  it('leaves out a call whose deadline has passed, even if its search names kinds of notices', async () => {
    const ctx = await person();
    await save(ctx, 'Suche', { ...words('meerrettich'), kinds: ['competition', 'result'] });
    const [overId = ''] = await ingest(
      call('Meerrettich vorbei'),
      call('Meerrettich vergeben', { noticeType: 'result' }),
      call('Meerrettich offen'),
    );
    await across('a test lets time pass', (tx) =>
      tx.execute(sql`update tender_search set open_until = now() where tender_id = ${overId}`),
    );
    const [mail] = await nextDigest(ctx);
    expect(mail?.text).toContain('Meerrettich offen');
    expect(mail?.text).toContain('Meerrettich vergeben');
    expect(mail?.text).not.toContain('Meerrettich vorbei');
    expect(await statesOf(ctx)).not.toContain('unsent');
  });

  it('is the same mail when it is retried', async () => {
    const ctx = await person();
    await save(ctx, 'Suche', words('kardamom'));
    await ingest(call('Kardamom 1'));
    const refused: ReceivedMail[] = [];
    trouble = (mail) => {
      refused.push(mail);
      return { code: 451, text: 'later' };
    };
    await nextDigest(ctx);
    await ingest(call('Kardamom 2'));
    trouble = undefined;
    await letPausePass();
    await deliver(ctx);
    const [[first], [second]] = [refused, received(ctx)];
    expect(first?.text).toContain('Kardamom 1');
    expect(second?.text).toBe(first?.text);
    expect(second?.messageId).toBe(first?.messageId);
    expect(await statesOf(ctx)).toEqual(['sent', 'unsent']);
  });

  it('respects changes made while it is queued', async () => {
    const [gone, off, weekly, other] = [await person(), await person(), await person(), await person()];
    const searches = new Map<UserContext, string>();
    for (const ctx of [gone, off, weekly, other]) searches.set(ctx, (await save(ctx, 'Suche', words('lavendel'))).id);
    await ingest(call('Lavendel'));
    await letDaysPass();
    await queueAlerts();
    await deleteSavedSearch(gone, searches.get(gone) ?? '');
    await setNotificationPreference(off, { digest: 'off' });
    await setNotificationPreference(weekly, { digest: 'weekly' });
    await updateSavedSearch(other, searches.get(other) ?? '', { filters: TenderFilters.parse(words('rosmarin')) });
    for (const ctx of [gone, off, weekly, other]) {
      await deliver(ctx);
      expect(received(ctx)).toEqual([]);
      expect(await lastMail(ctx)).toEqual([{ state: 'skipped', failure: 'outdated' }]);
    }
    expect([await statesOf(gone), await statesOf(off), await statesOf(weekly), await statesOf(other)]).toEqual([
      [],
      ['dismissed'],
      ['unsent'],
      [],
    ]);
    await letDaysPass(8);
    expect(await alerted(weekly)).toHaveLength(1);
  });

  it('lists changes of favorites and of tenders sent before', async () => {
    const [informed, fan, stranger] = [await person(), await person(), await person()];
    await save(informed, 'Suche', words('majoran'));
    const original = call('Majoran', { noticeUuid: newId() });
    const called = call('Muskat', { noticeUuid: newId() });
    const [majoran = '', muskat = ''] = await ingest(original, called);
    expect(await nextDigest(informed)).toHaveLength(1);
    await triageTender(fan, majoran, { favorite: true });
    await triageTender(fan, muskat, { favorite: true });
    await save(stranger, 'Suche', words('majoran'));
    const changes = (record: NoticeRecord) => ({
      noticeUuid: record.noticeUuid ?? '',
      version: 1,
      publicationNumber: null,
    });
    const correction = call('Majoran', {
      noticeUuid: newId(),
      isCorrection: true,
      changes: changes(original),
      deadlines: [{ kind: 'tender', lotId: null, at: '2998-01-08T22:59:59.000Z', isDateOnly: true }],
    });
    await ingest(correction);
    await ingest(
      call('Muskat', { noticeUuid: newId(), isCorrection: true, isCancelled: true, changes: changes(called) }),
    );
    // The same correction from another source is not another change.
    await ingest({ ...correction, sourcePortal: 'ted', noticeKey: 'ted-1', hash: 'another' });
    const [mail, ...others] = await nextDigest(informed);
    expect(others).toEqual([]);
    expect(mail?.subject).toBe('1 Ausschreibung geändert');
    expect(mail?.text).toMatch(/Geändert:[^]*Majoran[^]*neue Frist[^]*Mo\., 08\.01\.2998/);
    const [both] = await alerted(fan).then(async () => received(fan));
    expect(both?.subject).toBe('2 Ausschreibungen geändert');
    expect(both?.text).toMatch(/Muskat\s+Änderung:\s+aufgehoben/);
    expect(await alerted(stranger)).toEqual([]);
    expect(received(stranger)).toEqual([]);
    expect([await nextDigest(informed), await nextDigest(fan)]).toEqual([[], []]);
  });
});

describe('an instant mail', () => {
  /** Lets the two minutes pass for which instant matches wait for others. */
  const gather = () =>
    across('a test lets time pass', (tx) =>
      tx
        .update(tenderMatches)
        .set({ matchedAt: sql`now() - interval '3 minutes'` })
        .where(eq(tenderMatches.kind, 'instant')),
    );

  it('is one mail per search with at most twenty tenders, each tender once', async () => {
    const ctx = await person();
    await save(ctx, 'A', words('nelken'), true);
    await save(ctx, 'B', { text: { any: ['nelken', 'oregano'] } }, true);
    await save(ctx, 'C', words('nelken', 'oregano'), true);
    await save(ctx, 'D', words('nelken'));
    await ingest(call('Nelken und Oregano'), ...Array.from({ length: 25 }, (_, n) => call(`Oregano ${n}`)));
    expect(await alerted(ctx)).toEqual([]);
    await gather();
    const mailsNow = (await alerted(ctx)).toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
    expect(mailsNow.map(({ subject }) => subject)).toEqual(['A: 1 neue Ausschreibung', 'B: 25 neue Ausschreibungen']);
    expect(mailsNow[0]?.text).toMatch(/Auch in:\s+B, C/);
    expect(mailsNow[1]?.text.match(/^Oregano/gm)).toHaveLength(20);
    expect(mailsNow[1]?.text).toContain('Und 5 weitere');
    expect(mailsNow[1]?.text).not.toContain('Nelken');
    await gather();
    expect(await alerted(ctx)).toEqual([]);
    // Each kind of mail lists a tender once: the digest lists it for the search without alerts only.
    const [digest] = await nextDigest(ctx);
    expect(digest?.subject).toBe('1 neue Ausschreibung');
    expect(digest?.text).toMatch(/Suche „D“:[^]*Nelken/);
    expect(new Set(await statesOf(ctx))).toEqual(new Set(['sent']));
  });

  it('moves its list to the digest when the server refuses it', async () => {
    const ctx = await person();
    await save(ctx, 'Suche', words('paprika'), true);
    await ingest(call('Paprika'));
    await gather();
    trouble = () => ({ code: 550, text: 'no' });
    await alerted(ctx);
    trouble = undefined;
    expect(await statesOf(ctx)).toEqual(['unsent']);
    expect(await alerted(ctx)).toEqual([]);
    expect(await nextDigest(ctx)).toHaveLength(1);
  });

  it('ends for all searches by its link; unsent matches move to the digest', async () => {
    const ctx = await person();
    const { id } = await save(ctx, 'Suche', words('quendel'), true);
    await save(ctx, 'Zweite', words('rosenkohl'), true);
    await ingest(call('Quendel 1'));
    await gather();
    const [mail] = await alerted(ctx);
    await ingest(call('Quendel 2'), call('Rosenkohl'));
    await gather();
    await queueAlerts();
    expect(await unsubscribe(system(), unsubscribeToken(mail))).toBe('instant');
    expect(await alerted(ctx)).toEqual([]);
    const rows = await ctx.tx((tx) =>
      tx
        .select({ kind: tenderMatches.kind })
        .from(tenderMatches)
        .where(and(eq(tenderMatches.searchId, id), eq(tenderMatches.wasSent, false))),
    );
    expect(rows).toEqual([{ kind: 'digest' }]);
    const [digest] = await nextDigest(ctx);
    expect(digest?.subject).toBe('2 neue Ausschreibungen');
  });
});

it('sends a password reset before 2,000 queued digests', async () => {
  const { id: tenantId } = await make.tenant();
  const people = Array.from({ length: 2_000 }, (_, n) => ({
    id: newId(),
    tenantId,
    username: `reader-${n}`,
    email: `reader-${n}@example.org`,
    role: 'ADMIN' as const,
  }));
  await across('a test makes accounts', async (tx) => {
    await tx.insert(users).values(people);
    const columns = compiledColumns(TenderFilters.parse(words('safran')));
    for (let from = 0; from < people.length; from += 500)
      await tx.insert(savedSearches).values(
        people.slice(from, from + 500).map(({ id: userId }) => ({
          id: newId(),
          tenantId,
          userId,
          name: 'Suche',
          instantAlert: false,
          ...columns,
        })),
      );
  });
  const locked = await make.user({ tenantId });
  await ingest(call('Safran'));
  await letDaysPass();
  await queueAlerts();
  const queued = eq(mails.state, 'queued');
  expect(await runtime.database.inTenant(tenantId).read((db) => db.$count(mails, queued))).toBe(2_000);

  const before = server.messages.length;
  const arrived = () => server.messages.length - before;
  const stopping = new AbortController();
  let arrivedBefore = 0;
  trouble = () => {
    if (arrived() !== 100) return;
    void requestReset(system(), { identifier: locked.username, language: 'de' }).then(
      () => (arrivedBefore = arrived()),
    );
  };
  const delivery = deliverDueMails(
    { ...runtime.tenant(jobOrigin(), tenantId), config },
    { signal: stopping.signal, kinds },
  ).catch((error: unknown) => error);
  await server.waitFor(({ envelopeTo }) => envelopeTo[0] === locked.email, 30_000);
  stopping.abort();
  await delivery;
  const at = server.messages.slice(before).findIndex(({ envelopeTo }) => envelopeTo[0] === locked.email);
  // Mails claimed ahead, and one claim in which digests come first.
  expect(at - arrivedBefore).toBeLessThan(100);
}, 60_000);
