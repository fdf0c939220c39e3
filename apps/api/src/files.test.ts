import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'content-disposition';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { open } from '@portal/domain/access';
import { notFound } from '@portal/domain/errors';
import { openPlainFile } from '@portal/platform/files/plain-file';
import { testApp } from '../testing/app.ts';
import { sendFile, sendStored, type ServedFile } from './files.ts';

const folder = await mkdtemp(join(tmpdir(), 'portal-served-'));
afterAll(() => rm(folder, { recursive: true }));
await writeFile(join(folder, 'file'), 'abcdefghij');
await writeFile(join(folder, 'empty'), '');
await symlink(join(folder, 'file'), join(folder, 'link'));

/** The file names that successive reads of the row return; the last one repeats. */
let rows: string[] = [];
let served: ServedFile & { name?: string } = { type: 'text/plain' };
const { app, request } = await testApp({
  routes: (app) => {
    app.get('/stored', { config: { access: open('a test') }, schema: { hide: true } }, (request, reply) =>
      sendStored(async () => {
        const name = (rows.length > 1 ? rows.shift() : rows[0]) ?? '';
        reply.header('cache-control', 'private, max-age=86400');
        return sendFile(request, reply, { type: 'text/plain', tag: name, saveAs: name }, async () => {
          if (name === 'broken') throw new Error('EIO');
          const file = await openPlainFile(join(folder, name));
          if (!file) throw notFound();
          return file;
        });
      }),
    );
    app.get('/served', { config: { access: open('a test') }, schema: { hide: true } }, (request, reply) =>
      sendFile(request, reply, served, async (partOf) => {
        const file = await openPlainFile(join(folder, served.name ?? 'file'), partOf);
        if (!file) throw notFound();
        return file;
      }),
    );
  },
});
const get = (file: typeof served, headers: Record<string, string> = {}) => {
  served = file;
  return request({ url: '/served', headers });
};
const type = 'application/octet-stream';

describe('a file', () => {
  it('is sent whole, in a sandbox, with its length', async () => {
    const answer = await get({ type });
    expect([answer.statusCode, answer.body]).toEqual([200, 'abcdefghij']);
    expect(answer.headers).toMatchObject({
      'content-type': type,
      'content-length': '10',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    for (const name of ['etag', 'accept-ranges', 'content-disposition'])
      expect(answer.headers).not.toHaveProperty(name);
    expect((await get({ type }, { range: 'bytes=0-1', 'if-none-match': '*' })).statusCode).toBe(200);
  });

  it('is never a link, a folder or a missing file', async () => {
    for (const name of ['link', '.', 'none', 'file/x']) expect((await get({ type, name })).statusCode).toBe(404);
  });

  it.each(['"t1"', 'W/"t1"', '"t0", "t1"', '*'])('that the client already has is not sent: %s', async (known) => {
    const answer = await get({ type, tag: 't1', acceptsRanges: true }, { 'if-none-match': known, range: 'bytes=0-1' });
    expect([answer.statusCode, answer.body, answer.headers.etag]).toEqual([304, '', '"t1"']);
  });

  it('that has changed is sent', async () => {
    const answer = await get({ type, tag: 't2' }, { 'if-none-match': '"t1"' });
    expect([answer.statusCode, answer.headers.etag]).toEqual([200, '"t2"']);
  });
});

describe('a large file', () => {
  const content = randomBytes(3_000_000);
  const ranged = { type, tag: 't1', acceptsRanges: true, name: 'large' };
  const listening = app.listen({ port: 0, host: '127.0.0.1' });

  beforeAll(async () => {
    await writeFile(join(folder, 'large'), content);
    served = ranged;
  });

  it('arrives unchanged at readers of any speed', async () => {
    const url = `${await listening}/served`;
    const hashes = [0, 1, 5, 20].map(async (pauseMs) => {
      const hash = createHash('sha256');
      for await (const part of (await fetch(url)).body ?? []) {
        hash.update(part);
        if (pauseMs > 0) await pause(pauseMs);
      }
      return hash.digest('hex');
    });
    expect(new Set(await Promise.all(hashes))).toEqual(new Set([createHash('sha256').update(content).digest('hex')]));
  });

  it('arrives unchanged behind the answers to earlier requests of a connection', async () => {
    const { port } = new URL(await listening);
    const socket = connect(Number(port), '127.0.0.1');
    const ranges = [0, 1, 2].map((n) => [n * 1_000_000, n * 1_000_000 + 199_999] as const);
    for (const [start, end] of ranges)
      socket.write(`GET /served HTTP/1.1\r\nHost: 127.0.0.1\r\nRange: bytes=${start}-${end}\r\n\r\n`);
    const expected = Buffer.concat(ranges.map(([start, end]) => content.subarray(start, end + 1)));
    const received: Buffer[] = [];
    for await (const part of socket as AsyncIterable<Buffer>) {
      received.push(part);
      await pause(1);
      if (bodies(Buffer.concat(received)).length >= expected.length) break;
    }
    expect(bodies(Buffer.concat(received)).equals(expected)).toBe(true);
  });

  /** The answers without their heads. */
  function bodies(answers: Buffer): Buffer {
    const parts: Buffer[] = [];
    for (let rest = answers; rest.length > 0;) {
      const end = rest.indexOf('\r\n\r\n') + 4;
      const length = Number(/content-length: (\d+)/.exec(rest.subarray(0, end).toString())?.[1]);
      parts.push(rest.subarray(end, end + length));
      rest = rest.subarray(end + length);
    }
    return Buffer.concat(parts);
  }
});

describe('a file that a row names', () => {
  const cacheHeaders = (headers: object) =>
    Object.entries(headers).filter(([name]) => ['cache-control', 'etag', 'content-disposition'].includes(name));

  it('is the current file of the row after a concurrent replacement', async () => {
    rows = ['gone', 'file'];
    const answer = await request({ url: '/stored' });
    expect([answer.statusCode, answer.body]).toEqual([200, 'abcdefghij']);
    expect(Object.fromEntries(cacheHeaders(answer.headers))).toMatchObject({
      'cache-control': 'private, max-age=86400',
      etag: '"file"',
      'content-disposition': expect.stringContaining('file'),
    });
  });

  it.each([
    [404, 'gone'],
    [500, 'broken'],
  ])('that cannot be read answers %d without caching', async (status, name) => {
    rows = [name];
    const answer = await request({ url: '/stored' });
    expect([answer.statusCode, cacheHeaders(answer.headers)]).toEqual([status, [['cache-control', 'no-store']]]);
  });
});

describe('the file name of a download', () => {
  it.each([
    ['report.pdf', 'report.pdf'],
    ['Rechnung März.pdf', 'Rechnung März.pdf'],
    ['say "hi"; x=1.txt', 'say "hi"; x=1.txt'],
    ['back\\slash.txt', 'slash.txt'],
    ['../../etc/passwd', 'passwd'],
    ['a\r\nset-cookie: x=1.txt', 'aset-cookie: x=1.txt'],
    ['nul\0\u0007.txt', 'nul.txt'],
    ['日本語.xlsx', '日本語.xlsx'],
    ['100%25.txt', '100%25.txt'],
    ['half \ud800 pair', 'half \ufffd pair'],
    ['', 'file'],
  ])('%j arrives as %j', async (saveAs, name) => {
    const header = (await get({ type, saveAs })).headers['content-disposition'] ?? '';
    expect(parse(header)).toMatchObject({ type: 'attachment', parameters: { filename: name } });
    expect(header).toMatch(/^[\x20-\x7e]*$/);
  });
});

describe('a range of a file', () => {
  const ranged = { type, tag: 't1', acceptsRanges: true };

  it.each([
    ['bytes=0-3', 'abcd', 'bytes 0-3/10'],
    ['bytes=4-', 'efghij', 'bytes 4-9/10'],
    ['bytes=-2', 'ij', 'bytes 8-9/10'],
    ['bytes=-11', 'abcdefghij', 'bytes 0-9/10'],
    ['bytes=-99999999999999999999', 'abcdefghij', 'bytes 0-9/10'],
    ['bytes=8-100', 'ij', 'bytes 8-9/10'],
    ['bytes=9-9', 'j', 'bytes 9-9/10'],
  ])('%s', async (range, body, contentRange) => {
    const answer = await get(ranged, { range });
    expect([answer.statusCode, answer.body]).toEqual([206, body]);
    expect(answer.headers).toMatchObject({
      'content-range': contentRange,
      'content-length': String(body.length),
      'accept-ranges': 'bytes',
      etag: '"t1"',
      'content-security-policy': "default-src 'none'; sandbox",
    });
  });

  it.each(['bytes=10-', 'bytes=50-60', 'bytes=-0'])('outside the file answers 416: %s', async (range) => {
    const answer = await get({ ...ranged, saveAs: 'x' }, { range });
    expect(answer.json()).toMatchObject({
      statusCode: 416,
      error: 'Range Not Satisfiable',
      code: 'RANGE_NOT_SATISFIABLE',
    });
    expect(answer.headers).toMatchObject({ 'content-range': 'bytes */10' });
    expect(answer.headers).not.toHaveProperty('content-disposition');
    expect((await get({ ...ranged, name: 'empty' }, { range: 'bytes=0-' })).headers['content-range']).toBe('bytes */0');
  });

  it.each(['bytes=0-1,3-4', 'lines=0-1', 'bytes', 'bytes=x-y', 'bytes=5-1,'])(
    'is not answered for an invalid header or several ranges: %s',
    async (range) => {
      expect([200, 416]).toContain((await get(ranged, { range })).statusCode);
      expect((await get(ranged, { range: 'bytes=0-1,3-4' })).body).toBe('abcdefghij');
    },
  );

  it('belongs to the version named in If-Range; otherwise the whole file is sent', async () => {
    const range = 'bytes=5-';
    expect((await get(ranged, { range, 'if-range': '"t1"' })).statusCode).toBe(206);
    for (const other of ['"t0"', 'W/"t1"', 'Sun, 22 Nov 2026 08:00:00 GMT'])
      expect((await get(ranged, { range, 'if-range': other })).body).toBe('abcdefghij');
    expect((await get({ type, acceptsRanges: true }, { range, 'if-range': '"t1"' })).statusCode).toBe(200);
  });
});
