import { describe, expect, it } from 'vitest';
import { moduleGrants } from '@portal/db/schema/modules';
import { newId } from '@portal/domain/ids';
import { testApp } from '../../testing/app.ts';

const { make, request, runtime } = await testApp();

async function granted(tenantId: string, level: 'USE' | 'MANAGE') {
  const user = await make.user({ tenantId });
  await runtime.database
    .inTenant(tenantId)
    .tx((tx) =>
      tx.insert(moduleGrants).values({ id: newId(), tenantId, userId: user.id, moduleKey: 'invoice-mailbox', level }),
    );
  return user;
}

async function withFile(tenantId: string, text: string, more: Parameters<typeof make.invoice>[1] = {}) {
  const { files } = runtime.system({ requestId: '', ip: null, userAgent: null });
  const { path } = await files.write('invoice-documents', newId(), 'xml', Buffer.from(text), { maxBytes: 1_000 });
  return make.invoice(tenantId, { path, ...more });
}

const mailbox = { host: '127.0.0.1', port: 1, security: 'none', username: 'ada', password: 'a secret of ada' };

describe('the invoice mailbox', () => {
  it('is set only by its managers, and never shows its password', async () => {
    const { id: tenantId } = await make.tenant();
    const [manager, user, stranger] = [
      await granted(tenantId, 'MANAGE'),
      await granted(tenantId, 'USE'),
      await make.user({ tenantId }),
    ];
    const url = '/invoices/mailbox';
    const put = await request({ method: 'PUT', url, as: manager, payload: mailbox });
    expect(put.statusCode).toBe(200);
    expect(put.json()).toMatchObject({
      folder: 'INBOX',
      isActive: true,
      hasPassword: true,
      lastFetchedAt: null,
      lastError: null,
    });
    expect(put.body).not.toContain(mailbox.password);
    expect((await request({ method: 'GET', url, as: manager })).json()).toEqual(put.json());
    expect(put.headers['cache-control']).toBe('no-store');
    for (const [method, path] of [
      ['GET', url],
      ['PUT', url],
      ['DELETE', url],
      ['POST', `${url}/test`],
    ] as const) {
      const payload = method === 'GET' || method === 'DELETE' ? {} : { payload: mailbox };
      expect((await request({ method, url: path, as: user, ...payload })).statusCode).toBe(403);
      expect((await request({ method, url: path, as: stranger, ...payload })).statusCode).toBe(403);
    }
    const tried = await request({ method: 'POST', url: `${url}/test`, as: manager, payload: mailbox });
    expect([tried.statusCode, tried.json()]).toEqual([
      200,
      { ok: false, error: 'unreachable', message: expect.any(String) },
    ]);
    expect((await request({ method: 'DELETE', url, as: manager })).statusCode).toBe(204);
    expect((await request({ method: 'GET', url, as: manager })).json()).toMatchObject({
      host: null,
      hasPassword: false,
    });
  });

  it.each([
    [{ host: '' }],
    [{ host: 'imap://a' }],
    [{ host: 'a b' }],
    [{ port: 0 }],
    [{ port: 65_536 }],
    [{ security: 'ssl' }],
    [{ username: '' }],
    [{ username: 'a\r\nb' }],
    [{ folder: 'a\u0000b' }],
    [{ folder: '' }],
    [{ processedFolder: 'INBOX' }],
    [{ failedFolder: 5 }],
    [{ caCertificatePem: 'none' }],
    [{ isActive: 'yes' }],
    [{ password: 'x'.repeat(1_001) }],
    [{ host: null }],
  ])('%j is refused', async (change) => {
    const admin = await make.user({ role: 'ADMIN' });
    for (const [method, url] of [
      ['PUT', '/invoices/mailbox'],
      ['POST', '/invoices/mailbox/test'],
    ] as const)
      expect((await request({ method, url, as: admin, payload: { ...mailbox, ...change } })).statusCode).toBe(400);
  });

  it('can be fetched by its users, one run at a time and once in ten seconds', async () => {
    const { id: tenantId } = await make.tenant();
    const [manager, user] = [await granted(tenantId, 'MANAGE'), await granted(tenantId, 'USE')];
    const fetch = (headers = {}) => request({ method: 'POST', url: '/invoices/fetch', as: user, headers });
    const early = await fetch();
    expect([early.statusCode, early.json<{ code: string }>().code]).toEqual([409, 'MAILBOX_NOT_CONFIGURED']);
    await request({ method: 'PUT', url: '/invoices/mailbox', as: manager, payload: { ...mailbox, isActive: false } });
    const started = await fetch({ prefer: 'wait=1' });
    expect([started.statusCode, started.headers['preference-applied']]).toEqual([202, 'wait=1']);
    const { runId } = started.json<{ runId: string }>();
    expect((await request({ method: 'GET', url: `/runs/${runId}`, as: user })).json()).toMatchObject({
      kind: 'invoices.fetch',
      state: 'queued',
    });
    const again = await fetch();
    expect([again.statusCode, again.json<{ code: string }>().code]).toEqual([429, 'POLL_LOCKED']);
    expect(Number(again.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(again.headers['retry-after'])).toBeLessThanOrEqual(10);
  });
});

describe('invoices', () => {
  it('are listed newest first, in pages, filtered by state and search text', async () => {
    const { id: tenantId } = await make.tenant();
    const user = await granted(tenantId, 'USE');
    const made = [
      await withFile(tenantId, '1', { number: 'R-100', seller: 'Müller GmbH', totalCents: 119_00, date: '2026-11-20' }),
      await make.invoice(tenantId, { state: 'failed', error: 'TOO_LARGE', format: 'other' }),
      await make.invoice(tenantId, { number: '100%', seller: 'Ab_c' }),
    ];
    await make.invoice((await make.tenant()).id, { number: 'R-100' });
    const list = async (query: string) => {
      const answer = await request({ method: 'GET', url: `/invoices?${query}`, as: user });
      expect(answer.statusCode, answer.body).toBe(200);
      return { answer, ids: answer.json<{ id: string }[]>().map(({ id }) => id) };
    };
    const ids = made.map(({ id }) => id).toReversed();
    expect((await list('')).ids).toEqual(ids);
    const first = await list('limit=2');
    expect(first.ids).toEqual(ids.slice(0, 2));
    expect(first.answer.headers.link).toContain('rel="next"');
    expect((await list(`limit=2&cursor=${String(first.answer.headers['x-next-cursor'])}`)).ids).toEqual(ids.slice(2));
    const found = async (search: string) => (await list(`search=${encodeURIComponent(search)}`)).ids;
    expect(await found('r-1')).toEqual([made[0]?.id]);
    expect(await found('MÜLLER')).toEqual([made[0]?.id]);
    expect(await found('Rechnung.XML')).toEqual([made[0]?.id]);
    expect(await found('0%')).toEqual([made[2]?.id]);
    expect(await found('b_c')).toEqual([made[2]?.id]);
    expect(await found('nichts')).toEqual([]);
    expect((await list('state=failed')).ids).toEqual([made[1]?.id]);
    expect((await list('state=new&search=100')).ids).toEqual([made[2]?.id, made[0]?.id]);
    expect((await request({ method: 'GET', url: `/invoices/${made[0]?.id}`, as: user })).json()).toMatchObject({
      number: 'R-100',
      date: '2026-11-20',
      totalCents: 119_00,
      payableCents: null,
      fileName: 'rechnung.xml',
      files: [{ fileName: 'rechnung.xml', type: 'application/xml', sizeBytes: 1 }],
    });
    for (const query of ['limit=0', 'limit=201', 'state=gone', 'cursor=x', `search=${'x'.repeat(201)}`])
      expect((await request({ method: 'GET', url: `/invoices?${query}`, as: user })).statusCode, query).toBe(400);
  });

  it('return their document byte for byte as a sandboxed download, only to users of the module', async () => {
    const { id: tenantId } = await make.tenant();
    const user = await granted(tenantId, 'USE');
    const text = '<?xml version="1.0"?><script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>';
    const { id } = await withFile(tenantId, text);
    const url = `/invoices/${id}/document`;
    const answer = await request({ method: 'GET', url, as: user });
    expect([answer.statusCode, answer.body]).toEqual([200, text]);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/xml',
      'content-disposition': 'attachment; filename=rechnung.xml',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-length': `${text.length}`,
    });
    const tag = String(answer.headers.etag);
    expect((await request({ method: 'GET', url, as: user, headers: { 'if-none-match': tag } })).statusCode).toBe(304);
    expect((await request({ method: 'GET', url: `${url}?file=1`, as: user })).statusCode).toBe(404);
    expect((await request({ method: 'GET', url: `${url}?file=-1`, as: user })).statusCode).toBe(400);
    expect((await request({ method: 'GET', url, as: await make.user({ tenantId }) })).statusCode).toBe(403);
    expect((await request({ method: 'GET', url, as: await make.user({ role: 'ADMIN' }) })).statusCode).toBe(404);
    const { id: unread } = await make.invoice(tenantId, { state: 'failed', error: 'TOO_LARGE', format: 'other' });
    expect((await request({ method: 'GET', url: `/invoices/${unread}/document`, as: user })).statusCode).toBe(404);
  });

  it('can be marked as processed, as new again and as what they were read as, with an audit entry; nothing else can be changed', async () => {
    const { id: tenantId } = await make.tenant();
    const user = await granted(tenantId, 'USE');
    const { id } = await make.invoice(tenantId, { state: 'failed', error: 'ENCRYPTED', format: 'other' });
    const patch = (payload: object) => request({ method: 'PATCH', url: `/invoices/${id}`, as: user, payload });
    expect((await patch({ state: 'processed' })).json()).toMatchObject({ state: 'processed', error: 'ENCRYPTED' });
    expect((await patch({ state: 'processed' })).statusCode).toBe(200);
    expect((await patch({ state: 'new', number: 'R-1' })).json()).toMatchObject({ state: 'new', number: null });
    for (const payload of [{ state: 'gone' }, { state: null }, {}]) expect((await patch(payload)).statusCode).toBe(400);
    expect((await patch({ state: 'duplicate' })).json()).toMatchObject({ statusCode: 409, code: 'CONFLICT' });
    expect((await patch({ state: 'failed' })).json()).toMatchObject({ state: 'failed', error: 'ENCRYPTED' });
    expect((await patch({ state: 'new' })).json()).toMatchObject({ state: 'new', error: 'ENCRYPTED' });
    const admin = await make.user({ tenantId, role: 'ADMIN' });
    const log = await request({ method: 'GET', url: '/audit-log?action=invoices.update', as: admin });
    expect(
      log.json<{ summary: string; targetId: string }[]>().map(({ summary, targetId }) => [summary, targetId]),
    ).toEqual([
      ['Marked the invoice without a number as new, previously failed.', id],
      ['Marked the invoice without a number as failed, previously new.', id],
      ['Marked the invoice without a number as new, previously processed.', id],
      ['Marked the invoice without a number as processed, previously failed.', id],
    ]);
  });
});
