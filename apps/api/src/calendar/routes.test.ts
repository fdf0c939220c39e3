import { globSync } from 'node:fs';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CalendarSource } from '@portal/domain/calendar/sources';
import { newId } from '@portal/domain/ids';
import { icsOf, startCalendarServer } from '@portal/testing/servers/calendar-server';
import { trustTestAuthority } from '@portal/testing/servers/tls';
import { createTab } from '@portal/usecases/dashboards/tabs';
import { testApp } from '../../testing/app.ts';

trustTestAuthority();
const server = await startCalendarServer();
const usual = server.answer;
const { request, make, signedIn, logLines, config, ownerUrl } = await testApp({
  env: { OUTBOUND_ALLOW_HOSTS: `localhost:${server.port}` },
});
const owner = new Client({ connectionString: ownerUrl });
beforeAll(() => owner.connect());
afterAll(() => Promise.all([owner.end(), server.stop()]));

type Account = Awaited<ReturnType<typeof make.user>>;
let ada: Account;
beforeEach(async () => {
  server.answer = usual;
  server.seen.length = 0;
  ada = await make.user({ role: 'ADMIN' });
});

const call = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object, as = ada) => {
  const answer = await request({ method, url, as, ...(payload && { payload }) });
  return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() };
};
const secretPath = '/team/4f1c-very-secret.ics';
const address = () => `${server.origin}${secretPath}`;
const form = (changes: object = {}) => ({ name: 'Team', kind: 'ics', url: address(), ...changes });
async function added(changes: object = {}, as = ada): Promise<CalendarSource> {
  const { status, body } = await call('POST', '/calendar/sources', form(changes), as);
  expect(status).toBe(201);
  return body;
}
const rowOf = async (id: string) => (await owner.query('select * from calendar_sources where id = $1', [id])).rows[0];
const storedFiles = () =>
  globSync('files/calendars/**/*', { cwd: config.dataDir }).filter((path) => path.includes('.'));
const tested = async (body: object, as = ada) => call('POST', '/calendar/sources/test', body, as);

describe('sources', () => {
  it('are visible only to their owner, without their secrets', async () => {
    const source = await added({ username: 'ada', password: 'a calendar password', color: '#AA00ff', isActive: false });
    expect(source).toEqual({
      id: expect.any(String),
      name: 'Team',
      kind: 'ics',
      url: `${server.origin}/********`,
      username: 'ada',
      hasPassword: true,
      color: '#AA00ff',
      isActive: false,
    });
    expect(await call('GET', '/calendar/sources')).toEqual({ status: 200, body: [source] });
    const colleague = await make.user({ role: 'ADMIN', tenantId: ada.tenantId });
    expect(await call('GET', '/calendar/sources', undefined, colleague)).toEqual({ status: 200, body: [] });
    for (const [method, url, body] of [
      ['PATCH', `/calendar/sources/${source.id}`, { name: 'Mine' }],
      ['DELETE', `/calendar/sources/${source.id}`, undefined],
      ['POST', `/calendar/sources/${source.id}/test`, undefined],
      ['POST', '/calendar/sources/test', { id: source.id, kind: 'ics' }],
    ] as const)
      expect(await call(method, url, body, colleague)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(await call('DELETE', `/calendar/sources/${source.id}`)).toEqual({ status: 204, body: null });
    expect(await call('DELETE', `/calendar/sources/${source.id}`)).toMatchObject({ status: 404 });
  });

  it('need the module', async () => {
    const stranger = await make.user({ tenantId: ada.tenantId });
    expect(await call('GET', '/calendar/sources', undefined, stranger)).toMatchObject({
      status: 403,
      body: { code: 'MODULE_ACCESS_DENIED' },
    });
  });

  it('are twenty at most, also when they come at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, n) => call('POST', '/calendar/sources', form({ name: `Calendar ${n}` }))),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(5);
    expect(refused[0]).toMatchObject({ status: 409, body: { code: 'LIMIT_REACHED' } });
  });

  it('have https addresses, also written as calendar programs and Nextcloud write them', async () => {
    const stored = async (url: string, kind = 'ics') => {
      const { id } = await added({ url, kind });
      const asked = server.seen.length;
      await call('POST', `/calendar/sources/${id}/test`);
      return server.seen[asked]?.path;
    };
    const host = `localhost:${server.port}`;
    expect(await stored(`webcal://${host}/a.ics`)).toBe('/a.ics');
    expect(await stored(` WebCals://${host}/b.ics?x=1#y `)).toBe('/b.ics?x=1');
    expect(await stored(`https://${host}/index.php/apps/calendar/p/tOkEn`)).toBe(
      '/remote.php/dav/public-calendars/tOkEn?export',
    );
    expect(await stored(`https://${host}/cloud/apps/calendar/p/tOkEn/Team`)).toBe(
      '/cloud/remote.php/dav/public-calendars/tOkEn?export',
    );
    expect(await stored(`https://${host}/apps/calendar/p/tOkEn`, 'caldav')).toBe('/apps/calendar/p/tOkEn');
  });

  it.each([
    { url: 'http://calendar.example.org/x.ics' },
    { url: 'ftp://calendar.example.org/x.ics' },
    { url: 'file:///etc/passwd' },
    { url: 'webcal:calendar.example.org' },
    { url: 'https://ada:secret@calendar.example.org/x.ics' },
    { url: 'webcal://ada@calendar.example.org/x.ics' },
    { url: 'https:\\\\calendar.example.org' },
    { url: `https://calendar.example.org/${'x'.repeat(3_000)}` },
    { url: 'https://calendar.example.org/********' },
    { url: '' },
    { url: null },
    { kind: 'exchange' },
    { name: ' ' },
    { name: 'x\u0000' },
    { color: 'red' },
    { username: 'a:b' },
    { password: 7 },
    { isActive: 'yes' },
  ])('are refused with %j', async (changes) => {
    expect(await call('POST', '/calendar/sources', form(changes))).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED' },
    });
  });
});

describe('secrets', () => {
  it('are sealed in the row and appear in no answer, log, audit entry or metric', async () => {
    const password = 'a calendar password';
    const { id } = await added({ username: 'ada', password });
    await call('POST', `/calendar/sources/${id}/test`);
    server.answer = (_request, response) => void response.writeHead(500).end();
    await call('GET', '/calendar/events?from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z');
    await call('POST', `/calendar/sources/${id}/test`);
    await tested({ kind: 'ics', url: `${server.origin}/never/4f1c-very-secret.ics`, password });
    const row = await rowOf(id);
    expect([row.url, row.password]).toEqual([expect.stringMatching(/^v1:test:/), expect.stringMatching(/^v1:test:/)]);
    const answers = [
      await call('GET', '/calendar/sources'),
      await call('PATCH', `/calendar/sources/${id}`, { name: 'Other' }),
      await call('GET', '/calendar/events?from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z'),
    ];
    const audit = await owner.query('select * from audit_entries where tenant_id = $1', [ada.tenantId]);
    const metrics = await request({ url: '/metrics', remoteAddress: '127.0.0.1' });
    const shown = JSON.stringify([row, answers, audit.rows, logLines, metrics.body]);
    expect(shown).not.toContain('very-secret');
    expect(shown).not.toContain(password);
    expect(audit.rows.map(({ action, summary }) => [action, summary])).toContainEqual([
      'calendar_sources.test',
      `Tried calendar settings at the server localhost:${server.port} with the stored password.`,
    ]);
  });

  it('stay if the field is blank, are removed with null, and are never sent to another server or account', async () => {
    const { id } = await added({ username: 'ada', password: 'one' });
    const changed = (body: object) => call('PATCH', `/calendar/sources/${id}`, body);
    const signIns = async () => {
      server.seen.length = 0;
      await call('POST', `/calendar/sources/${id}/test`);
      const { path, headers } = server.seen[0] ?? { path: '', headers: {} };
      return [path, headers.authorization ? Buffer.from(headers.authorization.slice(6), 'base64').toString() : null];
    };
    for (const blank of [{ password: '' }, { password: '********' }, { url: '' }, { url: `${server.origin}/********` }])
      expect(await changed(blank)).toMatchObject({ status: 200, body: { hasPassword: true } });
    expect(await signIns()).toEqual([secretPath, 'ada:one']);
    // Another path on the same server is the same target.
    expect(await changed({ url: `${server.origin}/other.ics` })).toMatchObject({ status: 200 });
    expect(await signIns()).toEqual(['/other.ics', 'ada:one']);
    for (const elsewhere of [
      { url: 'https://elsewhere.example.org/x.ics' },
      { url: `https://localhost:${server.port + 1}/x.ics` },
      { username: 'grace' },
      { username: null },
      { url: 'https://elsewhere.example.org/********' },
      // The address of a calendar server is shown.
      { kind: 'caldav' },
    ])
      expect(await changed(elsewhere)).toMatchObject({ status: 400, body: { code: 'SECRET_REQUIRED' } });
    expect(await changed({ username: 'grace', password: 'two' })).toMatchObject({ status: 200 });
    expect(await signIns()).toEqual(['/other.ics', 'grace:two']);
    expect(await changed({ password: null, username: null })).toMatchObject({ body: { hasPassword: false } });
    expect(await signIns()).toEqual(['/other.ics', null]);
    expect(await changed({ url: 'https://elsewhere.example.org/x.ics', username: 'x' })).toMatchObject({ status: 200 });
  });

  it('of a calendar server include only its password', async () => {
    const { id, url } = await added({ kind: 'caldav', username: 'ada', password: 'one' });
    expect(url).toBe(address());
    expect((await rowOf(id)).url).toMatch(/^v1:/);
  });
});

describe('a test', () => {
  it('of a stored calendar or of unsaved settings says what is wrong', async () => {
    const before = storedFiles();
    const { id } = await added({ username: 'ada', password: 'one' });
    expect(await call('POST', `/calendar/sources/${id}/test`)).toEqual({
      status: 200,
      body: { ok: true, error: null },
    });
    expect(await tested({ id, kind: 'ics' })).toEqual({ status: 200, body: { ok: true, error: null } });
    expect(server.seen.map(({ path, headers }) => [path, headers.authorization !== undefined])).toEqual([
      [secretPath, true],
      [secretPath, true],
    ]);
    expect(await tested({ kind: 'ics', url: 'https://localhost:1/x.ics' })).toMatchObject({
      status: 200,
      body: { ok: false, error: 'unreachable' },
    });
    server.answer = (_request, response) => void response.writeHead(200).end('<html>Sign in</html>');
    expect(await call('POST', `/calendar/sources/${id}/test`)).toMatchObject({ body: { ok: false, error: 'invalid' } });
    expect(await tested({ kind: 'caldav', url: server.origin })).toMatchObject({
      body: { ok: false, error: 'invalid' },
    });
    expect(storedFiles()).toEqual(before);
  });

  it('sends a stored password nowhere else, and needs an address', async () => {
    const { id } = await added({ username: 'ada', password: 'one' });
    for (const body of [{ url: 'https://elsewhere.example.org/' }, { username: 'grace' }, { kind: 'caldav' }])
      expect(await tested({ id, kind: 'ics', ...body })).toMatchObject({
        status: 400,
        body: { code: 'SECRET_REQUIRED' },
      });
    expect(await tested({ kind: 'ics' })).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    expect(await tested({ id: newId(), kind: 'ics' })).toMatchObject({ status: 404 });
    expect(server.seen).toEqual([]);
  });

  it('is possible ten times a minute per user', async () => {
    const many = [];
    for (let n = 0; n < 11; n += 1) many.push(await tested({ kind: 'ics', url: address() }));
    expect(many.map(({ status }) => status)).toEqual([...Array<number>(10).fill(200), 429]);
    const colleague = await make.user({ role: 'ADMIN', tenantId: ada.tenantId });
    expect(await tested({ kind: 'ics', url: address() }, colleague)).toMatchObject({ status: 200 });
  });

  it('ends after 15 s if the calendar is slow', async () => {
    server.answer = () => undefined;
    const begun = performance.now();
    expect(await tested({ kind: 'ics', url: address() })).toMatchObject({ status: 200, body: { error: 'timeout' } });
    expect(performance.now() - begun).toBeLessThan(15_500);
  });
});

describe('tests of many users', () => {
  it('are four at a time per tenant, so that slow calendars leave places to other tenants', async () => {
    const unanswered: (() => void)[] = [];
    server.answer = (seen, response) =>
      seen.path === '/slow.ics' ? void unanswered.push(() => response.end(icsOf('Late'))) : usual(seen, response);
    const slow = { kind: 'ics', url: `${server.origin}/slow.ics` };
    const colleague = await make.user({ role: 'ADMIN', tenantId: ada.tenantId });
    const running = [ada, ada, colleague, colleague].map((as) => tested(slow, as));
    await vi.waitFor(() => expect(unanswered).toHaveLength(4), 10_000);

    const refused = await request({ method: 'POST', url: '/calendar/sources/test', as: ada, payload: slow });
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '15']);
    const elsewhere = await make.user({ role: 'ADMIN' });
    expect(await tested({ kind: 'ics', url: address() }, elsewhere)).toMatchObject({ status: 200, body: { ok: true } });

    for (const answer of unanswered) answer();
    for (const one of running) expect(await one).toMatchObject({ status: 200, body: { ok: true } });
    expect(await tested({ kind: 'ics', url: address() })).toMatchObject({ status: 200 });
  });

  it('are limited to sixty a minute per tenant, independent of other tenants', async () => {
    const first = await make.user({ role: 'ADMIN' });
    const body = { kind: 'ics', url: 'https://127.0.0.1/calendar.ics' };
    const statuses: number[] = [];
    for (let user = 0; user < 7; user += 1) {
      const account = user === 0 ? first : await make.user({ role: 'ADMIN', tenantId: first.tenantId });
      for (let n = 0; n < 10; n += 1) statuses.push((await tested(body, account)).status);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.slice(60)).toEqual(Array(10).fill(429));
    expect(await tested(body, await make.user({ role: 'ADMIN' }))).toMatchObject({ status: 200 });
  }, 60_000);
});

describe('addresses that are not public', () => {
  const hosts = [
    ['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.0.0.1.', '0', '0.0.0.0'],
    ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.254', '192.168.0.1', '192.168.255.255', '100.64.0.1'],
    ['100.127.255.255', '169.254.169.254', '169.254.0.1', '0xa9fea9fe', '2852039166', '224.0.0.1', '239.255.255.250'],
    ['240.0.0.1', '255.255.255.255', '198.18.0.1', '192.0.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1'],
    ['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:10.0.0.1]', '[::ffff:169.254.169.254]', '[64:ff9b::127.0.0.1]'],
    ['[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[ff02::1]', '[2001:db8::1]', '[2002:7f00:1::]', '[::127.0.0.1]'],
    ['①②⑦.⓪.⓪.①', '127。0。0。1', '0x7f.1', '0177.1', '127.0.0.1%2e'],
  ].flat();
  const wrong = [
    ['http://calendar.example.org/', 'gopher://127.0.0.1/', 'file:///etc/passwd', 'data:text/calendar,x', 'https://'],
    ['javascript:alert(1)', 'https:///x', 'https:127.0.0.1', 'https://a@127.0.0.1/', 'https://127.0.0.1@a.example/'],
    ['https://calendar.example.org\\@127.0.0.1/', 'https://[::1', 'https://a b/', 'webcal:', '//127.0.0.1/', 'x'],
    ['https://127.0.0.1:99999/', 'https://127.0.0.1:-1/', 'https://%zz/', 'https://\t127.0.0.1/', 'HTTP://127.0.0.1/'],
  ].flat();
  const places = hosts.flatMap((host) => [`https://${host}:443/x.ics`, `webcal://${host}/latest/meta-data`]);

  it(`are reported as unreachable, or refused as invalid (${places.length + wrong.length})`, async () => {
    expect(places.length + wrong.length).toBeGreaterThanOrEqual(110);
    const outcomes = new Set<string>();
    // A new tenant for every ten tests.
    for (let n = 0; n < places.length; n += 10) {
      const as = await make.user({ role: 'ADMIN' });
      for (const url of places.slice(n, n + 10)) {
        const { status, body } = await tested({ kind: n % 20 === 0 ? 'ics' : 'caldav', url }, as);
        outcomes.add(status === 200 ? body.error : `${status} ${body.code}`);
      }
    }
    expect([...outcomes]).toEqual(['unreachable']);
    for (const url of wrong)
      expect({ url, ...(await tested({ kind: 'ics', url })) }).toMatchObject({ url, status: 400 });
  });
});

describe('a calendar widget', () => {
  it('refers to the user’s own calendars and loses deleted ones', async () => {
    const [kept, gone] = [await added(), await added()];
    const { id: tabId } = await createTab(await signedIn(ada));
    const widget = (sourceIds: string[], as = ada) =>
      call('POST', `/dashboard/tabs/${tabId}/widgets`, { type: 'calendar', config: { sourceIds, days: 7 } }, as);
    const { body } = await widget([kept.id, gone.id]);
    expect(body).toMatchObject({ config: { sourceIds: [kept.id, gone.id], days: 7 } });
    const colleague = await make.user({ role: 'ADMIN', tenantId: ada.tenantId });
    const theirs = await added({}, colleague);
    expect(await widget([kept.id, theirs.id])).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    const change = { config: { sourceIds: [newId()] } };
    expect(await call('PATCH', `/dashboard/widgets/${body.id}`, change)).toMatchObject({ status: 404 });
    await call('DELETE', `/calendar/sources/${gone.id}`);
    expect(await call('GET', `/dashboard/tabs/${tabId}/widgets`)).toMatchObject({
      body: [{ config: { sourceIds: [kept.id], days: 7 } }],
    });
  });
});

it.each([
  '',
  '?from=2026-11-01T00:00:00Z',
  '?from=2026-11-01&to=2026-11-02',
  '?from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z',
  '?from=2026-11-01T00:00:00Z&to=2026-11-01T00:00:00Z',
  '?from=2026-11-01T00:00:00Z&to=2027-02-01T00:00:00.001Z',
  '?from=x&to=y',
])('events are not listed between instants like “%s”', async (query) => {
  expect(await call('GET', `/calendar/events${query}`)).toMatchObject({
    status: 400,
    body: { code: 'VALIDATION_FAILED' },
  });
});

it('the largest window is 92 days, in the years 1900 to 2199', async () => {
  await added({ url: `${server.origin}/x.ics` });
  server.answer = (_request, response) => void response.end(icsOf('One'));
  for (const from of ['1900-01-01', '1969-12-31', '2026-11-01', '2199-10-01']) {
    const to = new Date(Date.parse(`${from}T00:00:00Z`) + 92 * 86_400_000).toISOString();
    expect(await call('GET', `/calendar/events?from=${from}T00:00:00Z&to=${to}`)).toMatchObject({ status: 200 });
  }
  const message = 'must lie in the years 1900 to 2199';
  for (const [from, to, paths] of [
    ['0000-01-01T00:00:00Z', '0000-02-01T00:00:00Z', ['from', 'to']],
    ['1899-12-31T23:59:59Z', '1900-02-01T00:00:00Z', ['from']],
    ['2199-12-01T00:00:00Z', '2200-01-01T00:00:01Z', ['to']],
    ['9999-12-01T00:00:00-01:00', '9999-12-31T23:59:59-01:00', ['from', 'to']],
  ] as const)
    expect(await call('GET', `/calendar/events?${new URLSearchParams({ from, to }).toString()}`)).toMatchObject({
      status: 400,
      body: { details: paths.map((path) => ({ path, message })) },
    });
});
