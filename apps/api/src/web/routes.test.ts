import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { open } from '@portal/domain/access';
import { testApp } from '../../testing/app.ts';
import { builtPages } from '../../testing/built-pages.ts';

const html = '<!doctype html><title>Portal</title>';
const script = 'export const answer = 42;\n'.repeat(100);
const webDir = await builtPages({
  'index.html': html,
  'secret.js': 'not an asset',
  'assets/index-B_x-1.js': script,
  'assets/index-B_x-1.js.br': brotliCompressSync(script),
  'assets/index-B_x-1.js.gz': gzipSync(script),
  'assets/small-1.css': 'a{}',
  'assets/only-1.svg': '<svg/>',
  'assets/only-1.svg.gz': gzipSync('<svg/>'),
  'assets/icon-1.png': '1',
  'assets/icon-1.ico': '2',
  'assets/font.latin-1.woff2': '3',
  'assets/texts-1.json': '{}',
  'assets/portal-1.webmanifest': '{}',
  'assets/index-1.js.map': '{}',
  'assets/readme.md': '4',
});
const { app, cookieOf, make } = await testApp({
  env: { WEB_DIR: webDir },
  routes: (added) =>
    added.get('/hold', { config: { access: open('a test') }, schema: { hide: true } }, async (request) => {
      request.holdBytes(64 * 1024 * 1024);
      return new Promise((resolve) => {
        release = () => resolve('released');
      });
    }),
});
let release = (): void => undefined;
let port = 0;
beforeAll(async () => {
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as AddressInfo).port;
});

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
}

/** Without `fetch`, which normalizes paths, decompresses bodies and sets its own Accept-Encoding. */
const call = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    send({ host: '127.0.0.1', port, path, headers, method }, (response) => {
      buffer(response).then(
        (bytes) => resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes }),
        reject,
      );
    })
      .on('error', reject)
      .end();
  });
const jsonOf = ({ bytes }: Answer): unknown => JSON.parse(bytes.toString());
const notFound = { statusCode: 404, error: 'Not Found', code: 'NOT_FOUND' };

describe('the page', () => {
  it('is where the root leads', async () => {
    const { status, headers } = await call('/');
    expect([status, headers['location'], headers['cache-control']]).toEqual([302, '/app', 'no-store']);
  });

  it.each(['/app', '/app/', '/app/tabs/1', '/app/no/such?page=1', '/reset-password', '/confirm-email'])(
    'answers %s',
    async (path) => {
      const { status, headers, bytes } = await call(path);
      expect([status, bytes.toString()]).toEqual([200, html]);
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-length': String(html.length),
        'cache-control': 'no-cache',
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; font-src 'self'; manifest-src 'self'; frame-src https:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
    },
  );

  it('is sent again only after it has changed', async () => {
    const etag = String((await call('/app')).headers['etag']);
    for (const known of [etag, `W/${etag}, "x"`]) {
      const { status, headers, bytes } = await call('/app/tabs/1', { 'if-none-match': known });
      expect([status, headers['etag'], headers['cache-control'], bytes.length]).toEqual([304, etag, 'no-cache', 0]);
    }
    // Of the same length: neither size nor time tells them apart.
    await writeFile(join(webDir, 'index.html'), html.replace('Portal', 'Latrop'));
    const changed = await call('/app', { 'if-none-match': etag });
    await writeFile(join(webDir, 'index.html'), html);
    expect([changed.status, changed.bytes.toString()]).toEqual([200, html.replace('Portal', 'Latrop')]);
  });

  it('answers HEAD without its body, and no other method', async () => {
    for (const path of ['/app', '/app/me', '/reset-password', '/confirm-email']) {
      const head = await call(path, {}, 'HEAD');
      expect([head.status, head.headers['content-length'], head.bytes.length]).toEqual([200, String(html.length), 0]);
      for (const method of ['POST', 'DELETE']) {
        const { status, headers } = await call(path, {}, method);
        expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);
      }
    }
    for (const path of ['/', '/assets/index-B_x-1.js']) expect((await call(path, {}, 'PUT')).status).toBe(405);
  });

  it('does not answer addresses beside its own', async () => {
    for (const path of ['/application', '/App', '/reset-password/x', '/favicon.ico', '/manifest.webmanifest', '/me'])
      expect(jsonOf(await call(path))).toMatchObject(notFound);
  });

  it('that has not been built is 404 and says how to build it, and is there as soon as it is', async () => {
    await rename(join(webDir, 'index.html'), join(webDir, 'away.html'));
    for (const path of ['/app', '/app/reminders', '/reset-password']) {
      const answer = await call(path);
      expect([answer.status, answer.headers['cache-control'], jsonOf(answer)]).toEqual([
        404,
        'no-store',
        { ...notFound, message: expect.stringContaining('pnpm build:web') },
      ]);
    }
    await rename(join(webDir, 'away.html'), join(webDir, 'index.html'));
    expect((await call('/app')).status).toBe(200);
  });
});

describe('the dashboard of a signed-in account', () => {
  const linksOf = async (path: string, headers: Record<string, string>): Promise<string[]> => {
    const { link } = (await call(path, headers)).headers;
    return link === undefined ? [] : String(link).split(', ');
  };
  const dataOf = (dashboard: string) =>
    ['/auth/me', dashboard, '/modules/active'].map((path) => `<${path}>; rel=preload; as=fetch; crossorigin=anonymous`);
  const data = dataOf('/dashboard');
  const tabId = '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a11';
  const dashboards = ['/app', '/app/', '/app?x=/', `/app/tabs/${tabId}`];

  it('names what it loads first', async () => {
    const cookie = await cookieOf(await make.user());
    for (const path of ['/app', '/app/', '/app?x=/']) expect(await linksOf(path, { cookie })).toEqual(data);
    expect(await linksOf(`/app/tabs/${tabId}?x`, { cookie })).toEqual(dataOf(`/dashboard?tabId=${tabId}`));
    const { etag = '' } = (await call('/app', { cookie })).headers;
    expect(await linksOf('/app', { cookie, 'if-none-match': String(etag) })).toEqual(data);
  });

  // A browser keeps the headers of the answer that a 304 confirms
  it('is another answer than the page of those without a session, also for a browser that has stored it', async () => {
    const cookie = await cookieOf(await make.user());
    const { etag = '' } = (await call('/app', { cookie })).headers;
    const { status, headers, bytes } = await call('/app', { 'if-none-match': String(etag) });
    expect([status, headers['link'], bytes.toString()]).toEqual([200, undefined, html]);
  });

  it('names its script, if the build wrote which it is', async () => {
    const cookie = await cookieOf(await make.user());
    const file = join(webDir, 'preload.json');
    await writeFile(file, JSON.stringify({ dashboard: ['/assets/dashboard-1.js', '/assets/grid_2-x.js'] }));
    expect(await linksOf('/app', { cookie })).toEqual([
      ...data,
      '</assets/dashboard-1.js>; rel=modulepreload',
      '</assets/grid_2-x.js>; rel=modulepreload',
    ]);
    for (const unusable of [
      '{"dashb',
      '{}',
      '{"dashboard":["/assets/a>; rel=x"]}',
      '{"dashboard":["https://x.example/a"]}',
    ]) {
      await writeFile(file, unusable);
      expect(await linksOf('/app', { cookie })).toEqual(data);
    }
    await rm(file);
  });

  it('is the only page that does, and names nothing to those without a session', async () => {
    const cookie = await cookieOf(await make.user());
    for (const path of [
      '/app/me',
      '/app/tabs',
      '/app/tabs/1',
      `/app/tabs/${tabId}/2`,
      '/reset-password',
      '/confirm-email',
    ])
      expect(await linksOf(path, { cookie })).toEqual([]);
    for (const path of dashboards) expect(await linksOf(path, { cookie: 'theme=dark' })).toEqual([]);
  });
});

describe('an asset', () => {
  it.each([
    ['index-B_x-1.js', 'text/javascript; charset=utf-8'],
    ['small-1.css', 'text/css; charset=utf-8'],
    ['only-1.svg', 'image/svg+xml'],
    ['icon-1.png', 'image/png'],
    ['icon-1.ico', 'image/x-icon'],
    ['font.latin-1.woff2', 'font/woff2'],
    ['texts-1.json', 'application/json; charset=utf-8'],
    ['portal-1.webmanifest', 'application/manifest+json; charset=utf-8'],
    ['index-1.js.map', 'application/json; charset=utf-8'],
  ])('%s is %s and never asked for again', async (name, type) => {
    const { status, headers, bytes } = await call(`/assets/${name}`);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': type,
      'content-length': String(bytes.length),
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    });
    expect(headers).not.toHaveProperty('content-encoding');
  });

  it.each([
    ['br, gzip', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;Q=0.5', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['*', 'br'],
    ['*;q=0.2, br;q=0', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['br;q=none', undefined],
    ['*;q=0', undefined],
    ['identity', undefined],
    ['deflate', undefined],
    ['', undefined],
  ])('is sent to a caller that accepts %j as %s', async (accepted, coding) => {
    const { headers, bytes } = await call('/assets/index-B_x-1.js', { 'accept-encoding': accepted });
    expect([headers['content-encoding'], headers['content-type']]).toEqual([coding, 'text/javascript; charset=utf-8']);
    const plain = coding === 'br' ? brotliDecompressSync(bytes) : coding === 'gzip' ? gunzipSync(bytes) : bytes;
    expect(plain.toString()).toBe(script);
    expect(headers['content-length']).toBe(String(bytes.length));
  });

  it('is sent as it is, if the build wrote it in no coding that the caller accepts', async () => {
    const codingOf = async (name: string) =>
      (await call(`/assets/${name}`, { 'accept-encoding': 'br, gzip;q=0.5' })).headers['content-encoding'];
    expect([await codingOf('only-1.svg'), await codingOf('small-1.css')]).toEqual(['gzip', undefined]);
  });

  it('answers HEAD without its body', async () => {
    const head = await call('/assets/index-B_x-1.js', { 'accept-encoding': 'br' }, 'HEAD');
    expect([head.status, head.headers['content-encoding'], head.bytes.length]).toEqual([200, 'br', 0]);
    expect(head.headers['content-length']).toBe(String(brotliCompressSync(script).length));
  });

  it('also varies by the origin, where several are served', async () => {
    const { request } = await testApp({ env: { WEB_DIR: webDir, CORS_ORIGINS: 'https://front.example.org' } });
    const { headers } = await request({ url: '/assets/small-1.css', headers: { origin: 'https://front.example.org' } });
    expect(headers).toMatchObject({
      vary: 'Origin, Accept-Encoding',
      'access-control-allow-origin': 'https://front.example.org',
    });
  });

  it('that nobody has built is 404 in JSON, and so is a file of another kind or place', async () => {
    await symlink(join(webDir, 'secret.js'), join(webDir, 'assets', 'link-1.js'));
    const unknown = ['', 'no-such-1.js', 'readme.md', '.js', 'index-B_x-1', 'index-B_x-1.js.br', 'small-1.constructor'];
    const elsewhere = ['../secret.js', '..%2fsecret.js', '%2e%2e/secret.js', '..%5csecret.js', 'x/../small-1.css'];
    const odd = ['link-1.js', 'small-1.css/', 'a%0a.css', 'small-1.css%00.js'];
    const long = [150, 1_000].map((length) => `${'x'.repeat(length)}.js`);
    for (const path of [...unknown, ...elsewhere, ...odd, ...long]) {
      const answer = await call(`/assets/${path}`, { 'accept-encoding': 'br, gzip' });
      const isNul = path.includes('%00');
      expect([path, answer.status]).toEqual([path, isNul ? 400 : 404]);
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store' });
      expect(answer.headers).not.toHaveProperty('content-encoding');
      if (!isNul) expect(jsonOf(answer)).toMatchObject(notFound);
    }
  });

  it('that is refused under load is a refusal in plain JSON', async () => {
    const held = call('/hold');
    await expect.poll(() => call('/assets/index-B_x-1.js', { 'accept-encoding': 'br' })).toMatchObject({ status: 429 });
    const refused = await call('/assets/index-B_x-1.js', { 'accept-encoding': 'br' });
    expect(refused.headers).not.toHaveProperty('content-encoding');
    expect(refused.headers).toMatchObject({ 'cache-control': 'no-store', 'retry-after': '2' });
    expect(jsonOf(refused)).toMatchObject({ code: 'RATE_LIMITED' });
    release();
    expect((await held).status).toBe(200);
  });
});

describe('an empty WEB_DIR', async () => {
  const off = await testApp({ env: { WEB_DIR: '' } });

  it('turns the pages off, and each of their paths is as unknown as any other', async () => {
    for (const url of ['/', '/app', '/app/me', '/reset-password', '/confirm-email', '/assets/small-1.css'])
      for (const method of ['GET', 'HEAD', 'POST'] as const)
        expect([url, method, (await off.request({ url, method })).statusCode]).toEqual([url, method, 404]);
  });
});

afterAll(() => release());
