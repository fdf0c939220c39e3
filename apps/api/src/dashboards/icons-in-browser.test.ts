import { once } from 'node:events';
import { createServer, request as requestHttp, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eq } from 'drizzle-orm';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import { newId } from '@portal/domain/ids';
import { svgIcon } from '@portal/testing/icons';
import { tinyGif } from '@portal/testing/pictures';
import { serviceBinary } from '@portal/testing/services';
import { uploadIcon } from '@portal/usecases/dashboards/favorite-icon';
import { addFavorite } from '@portal/usecases/dashboards/favorites';
import { createTab } from '@portal/usecases/dashboards/tabs';
import { addWidget } from '@portal/usecases/dashboards/widgets';
import { testApp } from '../../testing/app.ts';
import { loadedPage } from '../../testing/browser.ts';

const browser = serviceBinary('chromium-headless-shell') ?? '';

const { app, make, signedIn, cookieOf, runtime } = await testApp();
const as = await make.user();
const owner = await signedIn(as);
const { id: tabId } = await createTab(owner);
const { id: widgetId } = await addWidget(owner, { tabId, type: 'favorites', config: {} });

const listen = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
};

/** Requests a drawing caused in the browser. */
const heard = new Set<string>();
beforeEach(() => heard.clear());
const canary = `http://127.0.0.1:${await listen(
  createServer((request, response) => {
    heard.add((request.url ?? '').slice(1));
    response.setHeader('access-control-allow-origin', '*').end();
  }),
)}`;

await app.listen({ host: '127.0.0.1', port: 0 });
const { port: apiPort } = app.server.address() as AddressInfo;
const cookie = await cookieOf(as);

/** Pages of a web front end, by path; all other paths are forwarded to the API with the user's session. */
const pages = new Map<string, { type: string; body: string | Buffer }>();
const front = `http://127.0.0.1:${await listen(
  createServer((request, response) => {
    const page = pages.get(request.url ?? '');
    if (page) {
      response.setHeader('content-type', page.type).end(page.body);
      return;
    }
    const { method, url: path } = request;
    const toApi = requestHttp({ port: apiPort, host: '127.0.0.1', method, path, headers: { cookie } }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    toApi.on('error', () => response.destroy());
    toApi.end();
  }),
)}`;

const run = (name: string) => `fetch('${canary}/${name}')`;
const load = (name: string) => `${canary}/${name}`;

const dot = `data:image/gif;base64,${tinyGif.toString('base64')}`;

/** Drawings that run or load something, each by the name it requests. */
const hostile: Record<string, string> = {
  script: `<script>${run('script')}</script>`,
  'script-href': `<script href="data:text/javascript,${run('script-href')}"/>`,
  'script-cdata': `<script><![CDATA[${run('script-cdata')}]]></script>`,
  'script-prefixed': `<x:script xmlns:x="http://www.w3.org/2000/svg">${run('script-prefixed')}</x:script>`,
  'script-html': `<script xmlns="http://www.w3.org/1999/xhtml">${run('script-html')}</script>`,
  onload: `<image href="${dot}" onload="${run('onload')}"/>`,
  onbegin: `<animate onbegin="${run('onbegin')}" attributeName="x" dur="1s"/>`,
  onerror: `<image href="data:," onerror="${run('onerror')}"/>`,
  'foreign-object': `<foreignObject width="9" height="9"><img xmlns="http://www.w3.org/1999/xhtml" src="${load('foreign-object')}"/></foreignObject>`,
  'foreign-script': `<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><script>${run('foreign-script')}</script></body></foreignObject>`,
  iframe: `<foreignObject width="9" height="9"><iframe xmlns="http://www.w3.org/1999/xhtml" src="${load('iframe')}"/></foreignObject>`,
  image: `<image width="9" height="9" href="${load('image')}"/>`,
  'image-xlink': `<image width="9" height="9" xlink:href="${load('image-xlink')}"/>`,
  'fe-image': `<filter id="f"><feImage href="${load('fe-image')}"/></filter><rect width="9" height="9" filter="url(#f)"/>`,
  'style-import': `<style>@import url(${load('style-import')});</style>`,
  'style-font': `<style>@font-face{font-family:x;src:url(${load('style-font')})}text{font-family:x}</style><text y="5">x</text>`,
  'style-image': `<style>rect{background:url(${load('style-image')});cursor:url(${load('style-image')}),auto}</style><foreignObject width="9" height="9"><p xmlns="http://www.w3.org/1999/xhtml" style="background:url(${load('style-image')})">x</p></foreignObject>`,
  'style-sheet': `<?xml-stylesheet href="${load('style-sheet')}"?>`,
  mask: `<rect width="9" height="9" style="mask-image:url(${load('mask')})"/>`,
  link: `<link xmlns="http://www.w3.org/1999/xhtml" rel="stylesheet" href="${load('link')}"/>`,
  entity: `<image href="${dot}" onload="&entity;"/>`,
};

const drawing = (name: string): Buffer => {
  const svg = svgIcon(`<rect width="8" height="8"/>${hostile[name]}`)
    .toString()
    .replace('<svg ', '<svg xmlns:xlink="http://www.w3.org/1999/xlink" ');
  // These two belong in front of the drawing.
  if (name === 'style-sheet') return Buffer.from(`${hostile[name]}${svgIcon().toString()}`);
  return Buffer.from(name === 'entity' ? `<!DOCTYPE svg [<!ENTITY entity "${run('entity')}">]>${svg}` : svg);
};

/** Embeds these addresses in every way a page can, and waits until the page has loaded. */
async function show(addresses: string[]): Promise<void> {
  const body = addresses
    .map(
      (address) =>
        `<img src="${address}"><iframe src="${address}"></iframe><object data="${address}"></object><embed src="${address}">`,
    )
    .join('\n');
  const path = `/${newId()}.html`;
  pages.set(path, { type: 'text/html', body: `<!doctype html><title>loaded</title>${body}` });
  expect(await loadedPage(browser, `${front}${path}`)).toContain('loaded');
}

const addOne = async () => (await addFavorite(owner, { widgetId, title: 'x', url: 'https://example.org' })).id;
const iconAt = (id: string) => `${front}/favorites/${id}/icon`;

describe.skipIf(browser === '')('in a browser', { timeout: 120_000 }, () => {
  it('uncleaned drawings run scripts and load resources', async () => {
    for (const name of Object.keys(hostile)) pages.set(`/${name}.svg`, { type: 'image/svg+xml', body: drawing(name) });
    await show(Object.keys(hostile).map((name) => `${front}/${name}.svg`));
    // Proves that every entry of the list is effective.
    expect(Object.keys(hostile).filter((name) => !heard.has(name))).toEqual([]);
  });

  it('drawings uploaded as icons do nothing', async () => {
    const ids: string[] = [];
    for (const name of Object.keys(hostile)) {
      const id = await addOne();
      await uploadIcon(owner, id, async () => drawing(name));
      ids.push(id);
    }
    await show(ids.map(iconAt));
    await loadedPage(browser, iconAt(ids[0] ?? ''));
    expect([...heard]).toEqual([]);
  });

  it('the headers of an icon stop even drawings that were not cleaned', async () => {
    const ids: string[] = [];
    for (const name of Object.keys(hostile)) {
      const id = await addOne();
      await uploadIcon(owner, id, async () => svgIcon());
      const { path } = await owner.files.write('favorite-icons', newId(), 'svg', drawing(name), { maxBytes: 100_000 });
      await runtime.database
        .inTenant(as.tenantId)
        .tx((tx) => tx.update(favorites).set({ iconPath: path }).where(eq(favorites.id, id)));
      ids.push(id);
    }
    await show(ids.map(iconAt));
    await loadedPage(browser, iconAt(ids[0] ?? ''));
    expect([...heard]).toEqual([]);
  });
});
