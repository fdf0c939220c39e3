import type { RequestListener } from 'node:http';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startHttpServer } from '@portal/testing/servers/http-server';
import { fetchIcon, findIcon, type IconSearch } from './find-icon.ts';

/** What the site under test serves, by path. */
let files: Record<string, string | Buffer | ((...parts: Parameters<RequestListener>) => unknown)> = {};
let asked: string[] = [];
const site = await startHttpServer((request, response) => {
  const path = request.url ?? '';
  asked.push(path);
  const file = files[path];
  if (file === undefined) response.writeHead(404).end('none');
  else if (typeof file === 'function') file(request, response);
  else response.end(file);
});
const canary = await startHttpServer((_request, response) => response.end('icon:canary'));
afterAll(() => Promise.all([site.close(), canary.close()]));
beforeEach(() => {
  asked = [];
});

const search: IconSearch<string> = {
  policy: { reach: 'public', httpsOnly: false, allowHosts: [{ host: '127.0.0.1', port: site.port }] },
  maxBytes: 1_000,
  timeoutMs: 20_000,
  // Replaces the check of pictures: a body is an icon if it says so.
  read: (bytes) => (bytes.toString().startsWith('icon:') ? bytes.toString().slice(5) : null),
};
const find = (path = '/page') => findIcon(new URL(path, site.origin), search);
const at = (path: string) => `${site.origin}${path}`;

describe('the icon of a page', () => {
  it.each<[string, string, string]>([
    ['is the one it links to', '<link rel=icon href=/a.png>', '/a.png'],
    ['is a drawing rather than pixels', '<link rel=icon sizes=64x64 href=/a.png><link rel=icon href=/b.svg>', '/b.svg'],
    [
      'is the smallest that is large enough',
      '<link rel=icon sizes=512x512 href=/a.png><link rel=icon sizes=96x96 href=/b.png><link rel=icon sizes=48x48 href=/c.png>',
      '/b.png',
    ],
    [
      'is the largest of those too small',
      '<link rel=icon sizes=16x16 href=/a.png><link rel=icon sizes=48x48 href=/b.png>',
      '/b.png',
    ],
    [
      'is one of unknown size rather than a small one',
      '<link rel=icon sizes=16x16 href=/a.png><link rel=icon href=/b.png>',
      '/b.png',
    ],
    [
      'is a touch icon rather than one of unknown size',
      '<link rel=icon href=/a.png><link rel=apple-touch-icon href=/b.png>',
      '/b.png',
    ],
    [
      'is a mask only if there is nothing else',
      '<link rel=mask-icon href=/a.svg><link rel=icon sizes=16x16 href=/b.png>',
      '/b.png',
    ],
  ])('%s', async (_name, html, expected) => {
    files = {
      '/page': html,
      '/a.png': 'icon:/a.png',
      '/b.png': 'icon:/b.png',
      '/c.png': 'icon:/c.png',
      '/a.svg': 'icon:/a.svg',
      '/b.svg': 'icon:/b.svg',
    };
    expect(await find()).toEqual({ icon: expected, url: at(expected) });
  });

  it('is the next one when the best cannot be used', async () => {
    files = {
      '/page':
        '<link rel=icon href=/broken.svg><link rel=icon sizes=64x64 href=/missing.png><link rel=icon sizes=65x65 href=/large.png><link rel=icon sizes=66x66 href=/good.png>',
      '/broken.svg': 'no icon',
      '/large.png': `icon:${'x'.repeat(2_000)}`,
      '/good.png': 'icon:good',
    };
    expect(await find()).toEqual({ icon: 'good', url: at('/good.png') });
  });

  it('may be contained in the page itself', async () => {
    files = {
      '/page': `<link rel=icon href="data:image/svg+xml;base64,${Buffer.from('icon:inside').toString('base64')}">`,
    };
    expect(await find()).toEqual({ icon: 'inside', url: null });
    files = { '/page': `<link rel=icon href="data:image/svg+xml,icon%3Aü%00">` };
    expect(await find()).toEqual({ icon: 'ü\0', url: null });
    files = {
      '/page': '<link rel=icon href="data:"><link rel=icon href="data:;base64,%%%">',
      '/favicon.ico': 'icon:favicon',
    };
    expect((await find())?.icon).toBe('favicon');
  });

  it('may be named by its manifest', async () => {
    files = {
      '/page': '<link rel=manifest href=/app/site.webmanifest><link rel=icon sizes=32x32 href=/small.png>',
      '/app/site.webmanifest': JSON.stringify({
        icons: [
          { src: '/mask.png', sizes: '64x64', purpose: 'maskable' },
          { src: 'app.png', sizes: '192x192', type: 'image/png' },
          { src: 17 },
          null,
          { src: 'http://[' },
        ],
      }),
      '/app/app.png': 'icon:app',
      '/small.png': 'icon:small',
      '/mask.png': 'icon:mask',
    };
    expect(await find()).toEqual({ icon: 'app', url: at('/app/app.png') });
  });

  it.each(['[]', '{', '{"icons":{}}', 'null', '', `{"icons":[${'{"src":"x"},'.repeat(200)}{"src":"x"}]}`])(
    'is found in spite of the manifest %.20s',
    async (manifest) => {
      files = { '/page': '<link rel=manifest href=/m.json>', '/m.json': manifest, '/favicon.ico': 'icon:favicon' };
      expect((await find())?.icon).toBe('favicon');
    },
  );

  it('is /favicon.ico of its host if the page names none, is not a page, or is broken', async () => {
    for (const page of ['', '<html>', Buffer.from([0xff, 0xfe, 0x00]), '%PDF-1.7']) {
      files = { '/page': page, '/favicon.ico': 'icon:favicon' };
      expect(await find()).toEqual({ icon: 'favicon', url: at('/favicon.ico') });
    }
    files = { '/favicon.ico': 'icon:favicon' };
    expect((await find())?.icon).toBe('favicon');
    files = { '/page': (request) => request.socket.destroy(), '/favicon.ico': 'icon:favicon' };
    expect((await find())?.icon).toBe('favicon');
  });

  it('is searched for at the address after redirects', async () => {
    files = {
      '/page': (_request, response) => response.writeHead(301, { location: '/de/start' }).end(),
      '/de/start': '<link rel=icon href=i.png>',
      '/de/i.png': (_request, response) => response.writeHead(302, { location: '/moved.png' }).end(),
      '/moved.png': 'icon:moved',
    };
    expect(await find()).toEqual({ icon: 'moved', url: at('/de/i.png') });
  });

  it('is read from the beginning of a long page', async () => {
    const page = brotliCompressSync(`<link rel=icon href=/a.png>${'x'.repeat(5_000_000)}`);
    files = {
      '/page': (_request, response) => response.setHeader('content-encoding', 'br').end(page),
      '/a.png': 'icon:a',
    };
    expect((await find())?.icon).toBe('a');
    files = { '/page': `${' '.repeat(300_000)}<link rel=icon href=/a.png>`, '/a.png': 'icon:a' };
    expect(await find()).toBeNull();
  });

  it('is a mask rather than none', async () => {
    files = {
      '/page': '<link rel=mask-icon href=/mask.svg>',
      '/mask.svg': 'icon:mask',
      '/favicon.ico': 'icon:favicon',
    };
    expect((await find())?.icon).toBe('favicon');
    delete files['/favicon.ico'];
    expect((await find())?.icon).toBe('mask');
  });

  it('is null when there is none', async () => {
    files = { '/page': '<link rel=icon href=/none.png>', '/favicon.ico': '<html>not found' };
    expect(await find()).toBeNull();
  });

  it('is fetched once per address, and at most seven are tried', async () => {
    files = {
      '/page': Array.from(
        { length: 50 },
        (_, index) => `<link rel=icon sizes=${64 + index}x1 href=/${index % 25}.png>`,
      ).join(''),
    };
    expect(await find()).toBeNull();
    expect(asked).toEqual(['/page', '/0.png', '/1.png', '/2.png', '/3.png', '/4.png', '/5.png', '/favicon.ico']);
  });
});

describe('a page that leads elsewhere', () => {
  it('does not lead to hosts that may not be called', async () => {
    files = {
      '/page': `<link rel=manifest href=${canary.origin}/m.json><link rel=icon href=${canary.origin}/a.png><link rel=icon href=/to-canary.png><link rel=apple-touch-icon href=http://localhost:${canary.port}/b.png>`,
      '/to-canary.png': (_request, response) => response.writeHead(302, { location: canary.origin }).end(),
    };
    expect(await find()).toBeNull();
    files = {
      '/page': (_request, response) => response.writeHead(302, { location: canary.origin }).end(),
      '/favicon.ico': 'icon:a',
    };
    await expect(find()).rejects.toMatchObject({ reason: 'blocked' });
    await expect(findIcon(new URL(canary.origin), search)).rejects.toMatchObject({ reason: 'blocked' });
    expect(canary.connections()).toBe(0);
  });
});

describe('a search', () => {
  it('fails with the reason why the page could not be reached', async () => {
    files = { '/page': (request) => request.socket.destroy(), '/favicon.ico': (request) => request.socket.destroy() };
    await expect(find()).rejects.toMatchObject({ reason: 'unreachable' });
  });

  it('ends when its signal aborts', async () => {
    const controller = new AbortController();
    files = { '/page': () => controller.abort(new Error('enough')) };
    await expect(findIcon(new URL('/page', site.origin), { ...search, signal: controller.signal })).rejects.toThrow(
      'enough',
    );
  });
});

it('fetches the icon at an address, or returns null', async () => {
  files = { '/a.png': 'icon:a', '/b.png': 'b' };
  expect(await fetchIcon(new URL('/a.png', site.origin), search)).toBe('a');
  expect(await fetchIcon(new URL('/b.png', site.origin), search)).toBeNull();
  expect(await fetchIcon(new URL('/c.png', site.origin), search)).toBeNull();
});
