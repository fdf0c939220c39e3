import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'content-disposition';
import { afterAll, describe, expect, it } from 'vitest';
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
const { request } = await testApp({
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
