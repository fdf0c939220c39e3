import { readdir } from 'node:fs/promises';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { text } from '@portal/domain/text';
import { acceptForms, formFile, formFiles, readForm } from '../../src/uploads.ts';
import { testApp } from '../../testing/app.ts';
import { startApi } from '../../testing/process.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

const Form = z.object({
  title: text(),
  note: text().optional(),
  file: formFile(64 * KiB),
  more: formFiles(3, 64 * KiB).optional(),
});

const {
  app,
  config,
  make,
  url: databaseUrl,
  cookieOf,
  logLines,
} = await testApp({
  routes: (added) => {
    acceptForms(added, (scope) => {
      scope.post(
        '/forms',
        { bodyLimit: 128 * KiB, config: { access: signedIn }, schema: { body: Form } },
        async (asked) => {
          const { title, file, more = [] } = await readForm(asked);
          return { title, sizes: [file, ...more].map(({ bytes }) => bytes.length) };
        },
      );
    });
  },
});
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;
const cookie = `Cookie: ${await cookieOf(await make.user())}`;

const field = (name: string, value: string | Buffer = 'x', ...headers: string[]) =>
  part([`Content-Disposition: form-data; name="${name}"`, ...headers], value);
const file = (name: string, value: string | Buffer = 'x', ...headers: string[]) =>
  part([`Content-Disposition: form-data; name="${name}"; filename="a"`, ...headers], value);
const part = (headers: string[], value: string | Buffer = 'x') =>
  Buffer.concat([
    Buffer.from(`--b\r\n${headers.map((one) => `${one}\r\n`).join('')}\r\n`),
    Buffer.from(value),
    Buffer.from('\r\n'),
  ]);
const whole = (...parts: (string | Buffer)[]) => Buffer.concat([...parts, '--b--\r\n'].map((one) => Buffer.from(one)));
const good = [field('title'), file('file')];
const withGood = (...parts: (string | Buffer)[]) => whole(...good, ...parts);
const many = (count: number, one: string | Buffer) =>
  Buffer.from(Buffer.from(one).toString('latin1').repeat(count), 'latin1');
const fileBegins = 'Content-Disposition: form-data; name="file"; filename="a"';

interface Sent {
  type?: string;
  headers?: string[];
  body: string | Buffer;
  /** Content-Length, if other than the real length. */
  length?: number;
  /** Whether the sender ends its side of the connection. */
  endsConnection?: boolean;
  /** Sent endlessly after the body, in chunks. */
  endless?: string | Buffer;
}

const head = (
  { type = 'multipart/form-data; boundary=b', headers = [] }: Pick<Sent, 'type' | 'headers'>,
  path: string,
  ...more: string[]
) => `${[`POST ${path} HTTP/1.1`, 'Host: x', `Content-Type: ${type}`, ...headers, ...more].join('\r\n')}\r\n\r\n`;
const chunk = (bytes: string | Buffer) =>
  Buffer.concat([Buffer.from(`${Buffer.byteLength(bytes).toString(16)}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')]);

/** The status of the answer; 0 if the server closes without one. */
async function statusFrom(socket: Socket): Promise<number> {
  let received = '';
  await new Promise<void>((resolve) => {
    socket.on('data', (bytes) => {
      received += bytes.toString();
      if (received.includes('\r\n')) resolve();
    });
    socket.on('error', () => resolve()).on('close', resolve);
  });
  return Number(received.split(' ')[1] ?? 0);
}

/** Writes chunks as fast as the server accepts them. */
async function pour(socket: Socket, bytes: string | Buffer, total: number): Promise<void> {
  const one = chunk(many(Math.ceil((64 * KiB) / bytes.length), bytes));
  for (let sent = 0; sent < total && !socket.destroyed; sent += one.length) {
    if (socket.write(one)) continue;
    await new Promise<void>((resolve) => {
      const proceed = () => {
        socket.off('drain', proceed).off('close', proceed);
        resolve();
      };
      socket.on('drain', proceed).on('close', proceed);
    });
  }
}

async function send({ body, length, endsConnection, endless, ...sent }: Sent): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  const status = statusFrom(socket);
  if (endless === undefined) {
    const own = sent.headers?.some((one) => /^(content-length|transfer-encoding)/i.test(one))
      ? []
      : [`Content-Length: ${length ?? Buffer.byteLength(body)}`];
    socket.write(head(sent, '/forms', cookie, ...own));
    socket.write(body);
    if (endsConnection) socket.end();
  } else {
    socket.write(head(sent, '/forms', cookie, 'Transfer-Encoding: chunked'));
    socket.write(chunk(body));
    await pour(socket, endless, 8 * MiB);
  }
  const answer = await status;
  socket.destroy();
  return answer;
}

const storedFiles = async () => (await readdir(config.dataDir, { recursive: true }).catch(() => [])).toSorted();
const before = await storedFiles();

/** The server still accepts valid forms, stored no file and logged no error. */
async function expectNoHarm(): Promise<void> {
  expect(await send({ body: whole(...good) })).toBe(200);
  expect(await storedFiles()).toEqual(before);
  expect(logLines.filter(({ level }) => level === 'error')).toEqual([]);
}

const noise = Buffer.alloc(96 * KiB, 'x');

it.each<[string, number, Sent]>([
  ['without a boundary', 400, { type: 'multipart/form-data', body: whole(...good) }],
  ['with an empty boundary', 400, { type: 'multipart/form-data; boundary=""', body: '--\r\n\r\n----\r\n' }],
  [
    'with a boundary of 71 characters',
    400,
    { type: `multipart/form-data; boundary=${'b'.repeat(71)}`, body: whole(...good) },
  ],
  [
    'with a boundary of 8,000 characters',
    400,
    { type: `multipart/form-data; boundary=${'b'.repeat(8_000)}`, body: whole(...good) },
  ],
  ['with a boundary other than announced', 400, { type: 'multipart/form-data; boundary=c', body: whole(...good) }],
  ['with the boundary without its dashes', 400, { body: 'b\r\n\r\nx\r\nb--\r\n' }],
  ['with a longer boundary between its parts', 400, { body: withGood(`--bb\r\n${fileBegins}\r\n\r\nx\r\n`) }],
  [
    'with bare line feeds',
    400,
    {
      body: whole(...good)
        .toString()
        .replaceAll('\r\n', '\n'),
    },
  ],
  ['of nothing', 400, { body: '' }],
  ['of only a preamble', 400, { body: 'x'.repeat(1_000) }],
  ['of only its end', 400, { body: '--b--\r\n' }],
  ['without its end', 400, { body: Buffer.concat(good) }],
  ['without the last dashes', 400, { body: Buffer.concat([...good, Buffer.from('--b\r\n')]) }],
  ['cut off in a header', 400, { body: Buffer.concat([...good, Buffer.from('--b\r\nContent-Dispo')]) }],
  ['whose end cuts off a header', 400, { body: withGood('--b\r\nContent-Disposition: form-data; name="note"\r\n') }],
  ['cut off in a field', 400, { body: Buffer.concat([...good, field('note').subarray(0, -3)]) }],
  [
    'cut off in a file',
    400,
    { body: Buffer.concat([field('title'), file('file', 'x'.repeat(60_000)).subarray(0, -1_000)]) },
  ],
  ['with a part without headers', 400, { body: withGood(part([])) }],
  ['with a part that has only a type', 400, { body: withGood(part(['Content-Type: text/plain'])) }],
  [
    'with a part that is an attachment',
    400,
    { body: withGood(part(['Content-Disposition: attachment; name="note"'])) },
  ],
  [
    'with two dispositions of one part',
    400,
    { body: withGood(field('note', 'x', 'Content-Disposition: form-data; name="title"')) },
  ],
  ['with a part without a name', 400, { body: withGood(part(['Content-Disposition: form-data'])) }],
  ['with a file without a name', 400, { body: withGood(part(['Content-Disposition: form-data; filename="a"'])) }],
  ['with an empty name', 400, { body: withGood(field('')) }],
  ['with NUL in a name', 400, { body: withGood(field('note\0')) }],
  ['with a name of 10,000 characters', 400, { body: withGood(field('n'.repeat(10_000))) }],
  ['with a line break in a name', 400, { body: withGood(field('no\rte')) }],
  ['with a field __proto__', 400, { body: withGood(field('__proto__', '{"polluted":true}')) }],
  ['with a file __proto__', 400, { body: withGood(file('__proto__')) }],
  ['with a field constructor', 400, { body: withGood(field('constructor', 'x', 'Content-Type: application/json')) }],
  [
    'with an invalid header',
    400,
    { body: withGood(part(['no header', 'Content-Disposition: form-data; name="note"'])) },
  ],
  ['with an unknown field', 400, { body: withGood(field('unknown')) }],
  ['with an unknown file', 400, { body: withGood(file('unknown')) }],
  ['with a duplicate field', 400, { body: withGood(field('title')) }],
  ['with a file for a field', 400, { body: withGood(file('note')) }],
  ['with a field for a file', 400, { body: whole(field('title'), field('file')) }],
  ['without its file', 400, { body: whole(field('title')) }],
  ['with a duplicate file', 413, { body: withGood(file('file')) }],
  ['with too many files', 413, { body: withGood(many(4, file('more'))) }],
  ['with a field over its limit', 413, { body: withGood(field('note', 'x'.repeat(64 * KiB + 1))) }],
  ['with a file over its limit', 413, { body: whole(field('title'), file('file', 'x'.repeat(64 * KiB + 1))) }],
  [
    'over its limit, but with no part over its own',
    413,
    {
      body: withGood(
        file('more', noise.subarray(0, 60 * KiB)),
        file('more', noise.subarray(0, 60 * KiB)),
        file('more', noise.subarray(0, 10 * KiB)),
      ),
    },
  ],
  ['of 100,000 fields', 413, { body: withGood(many(100_000, field('note'))) }],
  ['of 3,000 fields', 400, { body: withGood(many(3_000, field('note', ''))) }],
  ['of 100,000 files', 413, { body: withGood(many(100_000, file('more', ''))) }],
  [
    'with 10,000 headers of a part',
    413,
    {
      body: withGood(
        field('note', 'x', ...Array.from({ length: 10_000 }, (_, index) => `X-Header-Number-${index}: x`)),
      ),
    },
  ],
  ['in Latin-1', 400, { body: withGood(field('note', Buffer.from('Grüße', 'latin1'))) }],
  ['in surrogates', 400, { body: withGood(field('note', Buffer.from([0xed, 0xa0, 0x80]))) }],
  ['with NUL in a field', 400, { body: withGood(field('note', 'a\0b')) }],
  ['with a field in UTF-16', 400, { body: withGood(field('note', 'x', 'Content-Type: text/plain; charset=utf-16')) }],
  ['in UTF-16', 415, { type: 'multipart/form-data; charset=utf-16; boundary=b', body: whole(...good) }],
  ['with a field in base64', 400, { body: withGood(field('note', 'eA==', 'Content-Transfer-Encoding: base64')) }],
  [
    'with a form in it',
    400,
    { body: withGood(field('note', '--c\r\n\r\nx\r\n--c--\r\n', 'Content-Type: multipart/mixed; boundary=c')) },
  ],
  [
    'with a form in one of its files',
    400,
    { body: whole(field('title'), file('file', '--c--\r\n', 'Content-Type: multipart/form-data; boundary=c')) },
  ],
  ['compressed', 415, { headers: ['Content-Encoding: gzip'], body: whole(...good) }],
  ['of another kind of multipart', 415, { type: 'multipart/mixed; boundary=b', body: whole(...good) }],
  ['as a URL-encoded form', 415, { type: 'application/x-www-form-urlencoded', body: 'title=x&file=x' }],
  ['shorter than announced', 400, { body: whole(...good), length: 10_000, endsConnection: true }],
  ['longer than announced', 400, { body: whole(...good), length: 100 }],
  ['announced as far too much', 413, { body: whole(...good), length: 10 * MiB }],
  ['announced twice', 400, { headers: ['Content-Length: 10', 'Content-Length: 20'], body: whole(...good) }],
  [
    'announced, but in chunks',
    400,
    { headers: ['Content-Length: 10', 'Transfer-Encoding: chunked'], body: whole(...good) },
  ],
  ['in invalid chunks', 400, { headers: ['Transfer-Encoding: chunked'], body: `zz\r\n${whole(...good).toString()}` }],
  ['with an endless preamble', 413, { body: 'x', endless: 'x' }],
  ['with an endless header', 413, { body: `--b\r\n${fileBegins}`, endless: 'x' }],
  ['with endless headers', 413, { body: `--b\r\n${fileBegins}\r\n`, endless: 'X-Header: x\r\n' }],
  ['with an endless field', 413, { body: '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\n', endless: 'x' }],
  ['with an endless file', 413, { body: `--b\r\n${fileBegins}\r\n\r\n`, endless: 'x' }],
  ['with endless line breaks', 413, { body: `--b\r\n${fileBegins}\r\n\r\n`, endless: '\r\n--' }],
  ['with endless parts', 400, { body: whole().subarray(0, 0), endless: field('title') }],
  ['with endless data behind it', 413, { body: whole(...good), endless: 'x' }],
])('a form %s is answered %d', async (_case, status, sent) => {
  expect(await send(sent)).toBe(status);
  await expectNoHarm();
});

it('a form that stops arriving is answered 408, even after byte-by-byte progress', async () => {
  const { requestTimeout } = app.server;
  app.server.requestTimeout = 3_000;
  const socket = connect(port, '127.0.0.1');
  const status = statusFrom(socket);
  const body = whole(...good);
  socket.write(head({}, '/forms', cookie, `Content-Length: ${body.length}`));
  for (const byte of body.subarray(0, -2)) {
    socket.write(Buffer.of(byte));
    await pause(1);
  }
  expect(await status).toBe(408);
  app.server.requestTimeout = requestTimeout;
  await expectNoHarm();
});

it('100 senders that disconnect in the middle leave nothing behind', async () => {
  const body = whole(field('title'), file('file', noise.subarray(0, 60 * KiB)));
  for (let round = 0; round < 100; round += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(head({}, '/forms', cookie, `Content-Length: ${body.length}`));
    socket.write(body.subarray(0, round * 600));
    await pause(round % 7);
    socket.destroy();
  }
  // Their places are free again: an account may have 48 concurrent requests.
  await expect
    .poll(async () => new Set(await Promise.all(Array.from({ length: 40 }, () => send({ body })))))
    .toEqual(new Set([200]));
  await expectNoHarm();
});

describe('a process that receives 128 MiB', async () => {
  const api = await startApi(databaseUrl);
  const begin = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"`;

  it.each([
    ['as preamble', 'x', 'x'],
    ['as a header', begin('file'), 'x'],
    ['as headers', `${begin('file')}\r\n`, 'X-Header: x\r\n'],
    ['as a file', `${begin('file')}; filename="a"\r\n\r\n`, 'x'],
    ['as an ignored field', `${begin('other')}\r\n\r\n`, 'x'],
    ['as tiny parts', '', field('other')],
  ])('%s answers 4xx and holds no more than the limit of an upload', async (_case, start, endless) => {
    const senders = Array.from({ length: 2 }, async () => {
      const socket = api.connect();
      const status = statusFrom(socket.resume());
      socket.write(
        head({}, '/users/me/avatar', `Cookie: ${await cookieOf(await make.user())}`, 'Transfer-Encoding: chunked'),
      );
      if (start !== '') socket.write(chunk(start));
      await pour(socket, endless, 64 * MiB);
      socket.end();
      const answer = await status;
      socket.destroy();
      return answer;
    });
    for (const status of await Promise.all(senders)) expect([400, 413]).toContain(status);
    expect(await api.memoryMiB()).toBeLessThan(300);
    expect(await api.health()).toBe(200);
  });
});
