import { randomBytes } from 'node:crypto';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { SmtpConfigInput } from '@portal/domain/mail-settings/smtp-config';
import { mailsOfToday } from '@portal/platform/outbox/daily-quota';
import { testConfig } from '@portal/testing/runtime';
import { type SmtpStep, type SmtpTrouble, startSmtpServer } from '@portal/testing/servers/smtp-server';
import { putSmtpConfig } from '@portal/usecases/mail-settings/smtp-config';
import { testApp } from '../../testing/app.ts';
import { buildApp } from '../app.ts';

let trouble: (step: SmtpStep) => SmtpTrouble | undefined = () => undefined;
const service = await startSmtpServer({ failures: (step) => trouble(step), delayMs: 50 });
const own = await startSmtpServer({ auth: { username: 'portal', password: 'not to be told' } });
afterAll(() => Promise.all([service.stop(), own.stop()]));
const { app, runtime, request, make, signedIn, cookieOf, url } = await testApp({
  env: {
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(service.port),
    SMTP_SECURITY: 'none',
    SMTP_FROM: 'service@example.org',
    RELEASE_VERSION: '1.4.0',
    RELEASE_CHANNEL: 'live',
    RELEASE_COMMIT: '3f2c1ab',
    MAIL_DAILY_PER_TENANT: '20',
  },
});
beforeEach(() => {
  trouble = () => undefined;
  service.messages.length = 0;
});

const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), randomBytes(50_000)]);
const good = { title: 'Drucken bricht ab', description: 'Beim Drucken:\n\nder zweiten Seite.' };

/** A user whose tenant has a recipient for bug reports and these mail settings. */
async function reporter(settings: object = {}, account: Parameters<typeof make.user>[0] = {}) {
  const admin = await make.user({ role: 'ADMIN' });
  const config = SmtpConfigInput.parse({ bugReportRecipient: 'it@example.org', ...settings });
  await putSmtpConfig(await signedIn(admin), config);
  return make.user({ tenantId: admin.tenantId, displayName: 'Erika Beispiel', ...account });
}

function form(fields: Record<string, string | undefined>, screenshot: Buffer | null = png) {
  const parts = Object.entries(fields).map(([name, value]) =>
    value === undefined ? '' : `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file =
    '--b\r\ncontent-disposition: form-data; name="screenshot"; filename="x.png"\r\ncontent-type: image/png\r\n\r\n';
  const end = screenshot ? [Buffer.from(file), screenshot, Buffer.from('\r\n')] : [];
  return {
    payload: Buffer.concat([Buffer.from(parts.join('')), ...end, Buffer.from('--b--\r\n')]),
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  };
}
async function report(
  as: Awaited<ReturnType<typeof reporter>>,
  fields: Record<string, string | undefined> = {},
  { screenshot, userAgent = 'test' }: { screenshot?: Buffer | null; userAgent?: string } = {},
) {
  const { payload, headers } = form({ ...good, ...fields }, screenshot);
  return request({
    method: 'POST',
    url: '/bug-reports',
    as,
    payload,
    headers: { ...headers, ...(userAgent && { 'user-agent': userAgent }) },
  });
}
const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

describe('a bug report', () => {
  it('is mailed with its screenshot, byte for byte, before it is accepted', async () => {
    const by = await reporter();
    const answer = await report(by, {
      originKind: 'desktop',
      originVersion: '1.4.2',
      originPlatform: 'windows',
      originArch: 'x86_64',
    });
    expect([answer.statusCode, answer.json()]).toEqual([202, { accepted: true }]);
    const [mail] = service.messages;
    expect(mail?.envelopeTo).toEqual(['it@example.org']);
    expect(mail?.subject).toBe('[Desktop 1.4.2 windows] Drucken bricht ab');
    expect(mail?.html).toBeNull();
    expect(mail?.headers.get('reply-to')).toBe(by.email);
    expect(mail?.headers.get('from')).toContain('service@example.org');
    expect(mail?.attachments).toEqual([{ fileName: 'screenshot.png', contentType: 'image/png', bytes: png }]);
    expect(mail?.text).toMatch(/^Herkunft: Desktop 1\.4\.2 windows x86_64$/m);
    for (const expected of [
      'Erika Beispiel',
      by.username,
      by.email ?? '',
      /Tenant \w+-\w+/,
      '1.4.0 (live, 3f2c1ab)',
      /\d{1,2}\. \p{L}+ \d{4} um \d\d:\d\d Uhr/u,
      'Beim Drucken:\n\nder zweiten Seite.',
    ])
      expect(mail?.text).toMatch(expected);
  });

  it.each<[string, Record<string, string>, string, string]>([
    ['the user agent', {}, chrome, '[Web Chrome 142 Windows] '],
    ['nothing', {}, '', '[Web] '],
    ['the user agent of a program', {}, 'curl/8.5.0', '[Web] '],
    ['version and platform', { originVersion: '2.0.0', originPlatform: 'linux' }, chrome, '[Web 2.0.0 linux] '],
    ['kind and platform', { originKind: 'web', originPlatform: 'linux' }, chrome, '[Web Chrome 142 linux] '],
    ['only the kind', { originKind: 'desktop' }, chrome, '[Desktop Windows] '],
    [
      'blank fields',
      { originKind: '', originVersion: ' ', originPlatform: '', originArch: '' },
      chrome,
      '[Web Chrome 142 Windows] ',
    ],
    ['a malformed user agent', {}, ') ('.repeat(3_000), '['],
    ['an encoded header', { originVersion: '=?utf-8?q?=0d=0aBcc:x?=' }, '', '[Web =?utf-8?q?=0d=0aBcc:x?=] '],
  ])('names its origin, given %s', async (_what, fields, userAgent, start) => {
    expect((await report(await reporter(), fields, { userAgent })).statusCode).toBe(202);
    const [mail] = service.messages;
    expect(mail?.subject.startsWith(start)).toBe(true);
    expect(mail?.subject).toContain('Drucken bricht ab');
    expect(mail?.text).toMatch(/^Herkunft: (Web|Desktop)/m);
    expect(mail?.raw.toString('latin1')).not.toMatch(/^Bcc:/im);
  });

  it('is sent over the tenant’s own server, signed in, and not over the outbox', async () => {
    const server = { host: '127.0.0.1', port: own.port, security: 'none', fromAddress: 'portal@tenant.example' };
    const by = await reporter({ ...server, username: 'portal', password: 'not to be told' }, { role: 'SUPER_ADMIN' });
    expect((await report(by)).statusCode).toBe(202);
    expect(service.messages).toHaveLength(0);
    expect(own.messages.at(-1)).toMatchObject({ username: 'portal', envelopeFrom: 'portal@tenant.example' });
  });

  it('has no reply address if the reporter has none or it is not a single mailbox', async () => {
    expect((await report(await reporter({}, { email: null }))).statusCode).toBe(202);
    expect((await report(await reporter({}, { email: 'a,b@example.org' }))).statusCode).toBe(202);
    for (const { headers } of service.messages) expect(headers.has('reply-to')).toBe(false);
  });
});

describe('a bug report is refused', () => {
  it('in this order: without a session, not as a form, too large, malformed, without a recipient', async () => {
    const by = await make.user();
    const send = (more: object) => request({ method: 'POST', url: '/bug-reports', as: by, ...more });
    expect((await request({ method: 'POST', url: '/bug-reports', payload: '{}' })).statusCode).toBe(401);
    expect((await send({ payload: {} })).statusCode).toBe(415);
    const large = Buffer.concat([png.subarray(0, 8), Buffer.alloc(4_194_304 - 7)]);
    expect((await send(form({ title: '' }, large))).statusCode).toBe(413);
    const cases: [Record<string, string | undefined>, Buffer | null, string][] = [
      [{ title: undefined }, png, 'VALIDATION_FAILED'],
      [{ title: '  ' }, png, 'VALIDATION_FAILED'],
      [{ title: 'x'.repeat(201) }, png, 'VALIDATION_FAILED'],
      [{ title: 'a\r\nBcc: x@example.org' }, png, 'VALIDATION_FAILED'],
      [{ description: undefined }, png, 'VALIDATION_FAILED'],
      [{ description: 'x'.repeat(10_001) }, png, 'VALIDATION_FAILED'],
      [{ originKind: 'phone' }, png, 'VALIDATION_FAILED'],
      [{ originVersion: 'a\nb' }, png, 'VALIDATION_FAILED'],
      [{ stranger: 'x' }, png, 'VALIDATION_FAILED'],
      [{}, null, 'VALIDATION_FAILED'],
      [{}, Buffer.alloc(0), 'NOT_A_PNG'],
      [{}, png.subarray(0, 7), 'NOT_A_PNG'],
      [{}, png.subarray(1), 'NOT_A_PNG'],
      [{}, Buffer.from('GIF89a..'), 'NOT_A_PNG'],
      [{}, Buffer.from('\x89PNG\n\x1a\n........', 'latin1'), 'NOT_A_PNG'],
    ];
    for (const [fields, screenshot, code] of cases)
      expect([fields, (await report(by, fields, { screenshot })).json()]).toMatchObject([
        fields,
        { statusCode: 400, code },
      ]);
    expect((await report(by)).json()).toMatchObject({ statusCode: 409, code: 'NO_RECIPIENT' });
    expect(service.messages).toHaveLength(0);
  });

  it('after five per user, before anything is sent', async () => {
    const by = await reporter();
    const colleague = await make.user({ tenantId: by.tenantId });
    for (let n = 0; n < 5; n += 1) expect((await report(by)).statusCode).toBe(202);
    const sixth = await report(by);
    expect(sixth.json()).toMatchObject({ statusCode: 429, code: 'RATE_LIMITED' });
    expect(Number(sixth.headers['retry-after'])).toBeGreaterThan(500);
    expect(Number(sixth.headers['retry-after'])).toBeLessThanOrEqual(600);
    expect((await report(by, {}, { screenshot: png.subarray(1) })).json()).toMatchObject({ code: 'NOT_A_PNG' });
    expect(service.messages).toHaveLength(5);
    expect((await report(colleague)).statusCode).toBe(202);
  });

  it('without any mail server, with 502', async () => {
    const config = testConfig(url);
    const bare = await buildApp({ ...runtime, system: (origin) => ({ ...runtime.system(origin), config }) });
    afterAll(() => bare.close());
    const by = await reporter();
    const { payload, headers } = form(good);
    const answer = await bare.inject({
      method: 'POST',
      url: '/bug-reports',
      payload,
      headers: { ...headers, cookie: await cookieOf(by) },
    });
    expect(answer.json()).toMatchObject({
      statusCode: 502,
      code: 'MAIL_DELIVERY_FAILED',
      message: expect.stringContaining('no mail server'),
    });
    for (let n = 0; n < 5; n += 1) expect((await report(by)).statusCode).toBe(202);
  });
});

describe('a report the mail server does not accept', () => {
  it.each<[string, (step: SmtpStep) => SmtpTrouble | undefined]>([
    ['the recipient is refused', ({ at }) => (at === 'recipient' ? { code: 550, text: 'no such user' } : undefined)],
    ['the message is refused', ({ at }) => (at === 'message' ? { code: 554, text: 'no' } : undefined)],
    ['the connection breaks', ({ at }) => (at === 'transmission' ? 'drop' : undefined)],
  ])('is 502 with a reason and does not count: %s', async (_what, failing) => {
    const by = await reporter();
    trouble = failing;
    for (let n = 0; n < 7; n += 1)
      expect((await report(by)).json()).toMatchObject({
        statusCode: 502,
        code: 'MAIL_DELIVERY_FAILED',
        message: expect.stringMatching(/^The mail server 127.0.0.1:\d+ .+/),
      });
    trouble = () => undefined;
    service.messages.length = 0;
    expect((await (await signedIn(by)).read(mailsOfToday)).sent).toBe(0);
    const statuses = [];
    for (let n = 0; n < 6; n += 1) statuses.push((await report(by)).statusCode);
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
  });

  it('reveals no secret', async () => {
    const server = { host: '127.0.0.1', port: own.port, security: 'none', fromAddress: 'portal@tenant.example' };
    const by = await reporter({ ...server, username: 'portal', password: 'a wrong secret' });
    const answer = await report(by);
    expect(answer.statusCode).toBe(502);
    expect(answer.body).not.toContain('a wrong secret');
  });

  it('cannot be sent again without limit', async () => {
    const by = await reporter();
    trouble = ({ at }) => (at === 'greeting' ? { code: 554, text: 'no' } : undefined);
    const statuses: number[] = [];
    for (let n = 0; n < 32; n += 1) statuses.push((await report(by)).statusCode);
    expect([statuses.filter((one) => one === 502).length, statuses.at(-1)]).toEqual([30, 429]);
  });
});

describe('many at once', () => {
  it('exactly five of twelve are accepted, also with two processes', async () => {
    const by = await reporter();
    const other = await buildApp(runtime);
    afterAll(() => other.close());
    const cookie = await cookieOf(by);
    const { payload, headers } = form(good);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        (n % 2 ? app : other).inject({ method: 'POST', url: '/bug-reports', payload, headers: { ...headers, cookie } }),
      ),
    );
    const statuses = answers.map(({ statusCode }) => statusCode).toSorted();
    expect(statuses).toEqual([...Array<number>(5).fill(202), ...Array<number>(7).fill(429)]);
    expect(service.messages).toHaveLength(5);
  });

  it('over the service’s own server, no more than the tenant’s daily quota are accepted', async () => {
    const by = await reporter();
    const others = await Promise.all(Array.from({ length: 3 }, () => make.user({ tenantId: by.tenantId })));
    const statuses: number[] = [];
    for (const one of [by, ...others]) for (let n = 0; n < 5; n += 1) statuses.push((await report(one)).statusCode);
    // The last tenth of twenty mails a day is reserved for mails a user waits for.
    expect(statuses.filter((one) => one === 202)).toHaveLength(18);
    expect((await report(others[2] ?? by)).json()).toMatchObject({ statusCode: 409, code: 'LIMIT_REACHED' });
  });
});

it('an upload that is too large or stalls ends early', { timeout: 90_000 }, async () => {
  const by = await reporter();
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const head = `POST /bug-reports HTTP/1.1\r\nHost: x\r\nCookie: ${await cookieOf(by)}\r\nContent-Type: multipart/form-data; boundary=b\r\n`;
  const begun = '--b\r\nContent-Disposition: form-data; name="screenshot"; filename="a"\r\n\r\n';
  async function answerTo(headers: string, pieces: string, everyMs: number) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    const startedAt = performance.now();
    socket.write(`${head}${headers}\r\n`);
    let sent = 0;
    const timer = setInterval(() => {
      sent += pieces.length;
      if (socket.writable) socket.write(pieces);
    }, everyMs);
    const answer = await new Promise<string>((resolve) => {
      socket.once('data', (bytes) => resolve(bytes.toString())).once('close', () => resolve(''));
    });
    clearInterval(timer);
    socket.destroy();
    return { status: answer.slice(9, 12), sent, seconds: (performance.now() - startedAt) / 1000 };
  }
  // Announced as too large: refused before any of it arrives.
  expect(await answerTo('Content-Length: 6000000\r\n', '', 1_000)).toMatchObject({ status: '413', sent: 0 });
  // Not announced: refused as soon as it is too large.
  const chunk = `10000\r\n${begun.padEnd(0x10000, 'x')}\r\n`;
  const endless = await answerTo('Transfer-Encoding: chunked\r\n', chunk, 1);
  expect(['413', '400']).toContain(endless.status);
  expect(endless.sent).toBeLessThan(20_000_000);
  // A byte every half second.
  const slow = await answerTo(`Content-Length: 60000\r\n`, 'x', 500);
  expect(slow.seconds).toBeLessThan(40);
  expect(['408', '']).toContain(slow.status);
});
