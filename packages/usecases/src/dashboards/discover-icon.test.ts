import { readdir } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { pngIcon, svgIcon } from '@portal/testing/icons';
import { testRuntime } from '@portal/testing/runtime';
import { startHttpServer } from '@portal/testing/servers/http-server';
import { discoverFavoriteIcon } from './discover-icon.ts';
import { getIcon, openIcon, removeIcon, uploadIcon } from './favorite-icon.ts';
import { addFavorite, changeFavorite, deleteFavorite, listFavorites } from './favorites.ts';
import { createTab } from './tabs.ts';
import { addWidget } from './widgets.ts';

/** Behavior of the page under test, by path. */
const pages: Record<string, RequestListener> = {
  '/page': (_request, response) => response.end('<link rel=icon href=/icon.png>'),
  '/icon.png': (_request, response) => response.end(pngIcon()),
  '/icon.svg': (_request, response) => response.end(svgIcon('<script>alert(1)</script><path d="M0"/>')),
  '/inside': (_request, response) =>
    response.end(`<link rel=icon href="data:image/png;base64,${pngIcon({ shade: 9 }).toString('base64')}">`),
  '/to-canary': (_request, response) => response.writeHead(302, { location: canary.origin }).end(),
};
const site = await startHttpServer((request, response) => {
  const page = pages[request.url ?? ''];
  if (page) page(request, response);
  else response.writeHead(404).end();
});
const canary = await startHttpServer((_request, response) => response.end(pngIcon()));
afterAll(() => Promise.all([site.close(), canary.close()]));

const { config, runtime, make, signedIn } = await testRuntime({
  OUTBOUND_ALLOW_HOSTS: `127.0.0.1:${site.port}`,
});

const ctx = await signedIn(await make.user());
const { id: tabId } = await createTab(ctx);
const { id: widgetId } = await addWidget(ctx, { tabId, type: 'favorites', config: {} });
const at = (path: string) => `${site.origin}${path}`;
const add = async (path: string, iconUrl?: string) =>
  (await addFavorite(ctx, { widgetId, title: 'Page', url: path.startsWith('/') ? at(path) : path, iconUrl })).id;
const discover = (favoriteId: string, signal = new AbortController().signal) =>
  discoverFavoriteIcon(runtime.tenant({ requestId: '', ip: null, userAgent: null }, ctx.tenantId), favoriteId, signal);
const shown = async (id: string) => (await listFavorites(ctx, widgetId)).find((favorite) => favorite.id === id);
const iconOf = async (id: string): Promise<{ type: string; bytes: Buffer } | null> => {
  const icon = await getIcon(ctx, id).catch(() => null);
  return icon && { type: icon.type, bytes: await buffer((await openIcon(ctx, icon)).stream) };
};
const iconFiles = async (): Promise<number> =>
  (await readdir(join(config.dataDir, 'files'), { recursive: true, withFileTypes: true }).catch(() => [])).filter(
    (entry) => entry.isFile(),
  ).length;

describe('the search for an icon', () => {
  it('stores a copy of the icon the page names', async () => {
    const id = await add('/page');
    await discover(id);
    expect(await shown(id)).toMatchObject({
      iconUrl: at('/icon.png'),
      iconVersion: 1,
      hasUploadedIcon: false,
      uploadedIconMime: null,
    });
    expect(await iconOf(id)).toEqual({ type: 'image/png', bytes: pngIcon() });
    const files = await iconFiles();
    await discover(id);
    expect(await shown(id)).toMatchObject({ iconVersion: 2 });
    expect(await iconFiles()).toBe(files);
  });

  it('prefers the address the user entered, and stores an SVG only cleaned', async () => {
    const id = await add('/page', at('/icon.svg'));
    await discover(id);
    expect(await shown(id)).toMatchObject({ iconUrl: at('/icon.svg'), iconVersion: 1 });
    expect(await iconOf(id)).toEqual({ type: 'image/svg+xml', bytes: svgIcon('<path d="M0"/>') });
    await changeFavorite(ctx, id, { iconUrl: at('/none.png') });
    expect(await iconOf(id)).toBeNull();
    await discover(id);
    expect(await shown(id)).toMatchObject({ iconUrl: at('/none.png'), iconVersion: 2 });
    expect(await iconOf(id)).toBeNull();
  });

  it('stores no address for an icon inside the page', async () => {
    const id = await add('/inside');
    await discover(id);
    expect(await shown(id)).toMatchObject({ iconUrl: null, iconVersion: 1 });
    expect((await iconOf(id))?.bytes).toEqual(pngIcon({ shade: 9 }));
    await removeIcon(ctx, id);
    expect(await iconOf(id)).toBeNull();
    expect(await shown(id)).toMatchObject({ iconVersion: 2 });
  });

  it('ignores an address of more than 2,048 characters', async () => {
    const [fits, tooLong] = [2_048, 2_049].map((length) => `/icon.png?${'x'.repeat(length - at('/icon.png?').length)}`);
    for (const path of [fits, tooLong] as string[]) {
      pages[path] = (_request, response) => response.end(pngIcon({ shade: 5 }));
      pages['/long'] = (_request, response) => response.end(`<link rel=icon href="${path}">`);
      const id = await add('/long');
      await discover(id);
      expect(await shown(id)).toMatchObject(
        path === fits ? { iconUrl: at(path), iconVersion: 1 } : { iconUrl: null, iconVersion: 0 },
      );
    }
  });

  it('keeps the existing icon if it finds nothing', async () => {
    const id = await add('/page');
    await discover(id);
    const icon = pages['/icon.png'];
    pages['/icon.png'] = (_request, response) => response.end('gone');
    await discover(id);
    pages['/icon.png'] = icon ?? (() => undefined);
    expect(await shown(id)).toMatchObject({ iconUrl: at('/icon.png'), iconVersion: 1 });
    expect((await iconOf(id))?.bytes).toEqual(pngIcon());
  });

  it('calls no blocked address', async () => {
    for (const [page, icon] of [
      [canary.origin, undefined],
      [`http://localhost:${canary.port}/`, undefined],
      [at('/to-canary'), undefined],
      [at('/page'), canary.origin],
      [at('/page'), at('/to-canary')],
    ] as const) {
      const id = await add(page, icon);
      await discover(id);
      expect(await iconOf(id)).toBeNull();
    }
    expect(canary.connections()).toBe(0);
  });

  it('never replaces an uploaded icon', async () => {
    const id = await add('/page');
    await uploadIcon(ctx, id, async () => pngIcon({ shade: 1 }));
    await discover(id);
    expect(await shown(id)).toMatchObject({ iconUrl: null, iconVersion: 1, hasUploadedIcon: true });
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['an upload', (id) => uploadIcon(ctx, id, async () => pngIcon({ shade: 1 }))],
    ['another page', (id) => changeFavorite(ctx, id, { url: 'https://example.org/' })],
    ['another icon', (id) => changeFavorite(ctx, id, { iconUrl: 'https://example.org/i.png' })],
    ['its deletion', (id) => deleteFavorite(ctx, id)],
  ])('yields to %s during the search', async (_name, happen) => {
    const id = await add('/slow');
    const before = await iconFiles();
    pages['/slow'] = (_request, response) => void happen(id).then(() => response.end('<link rel=icon href=/icon.png>'));
    await discover(id);
    const now = await shown(id);
    expect(now?.iconUrl ?? null).not.toBe(at('/icon.png'));
    expect((await iconFiles()) - before).toBe(now?.hasUploadedIcon === true ? 1 : 0);
  });

  it('does not restore an icon removed during the search', async () => {
    const id = await add('/slow');
    pages['/slow'] = (_request, response) => response.end('<link rel=icon href=/icon.png>');
    await discover(id);
    pages['/slow'] = (_request, response) =>
      void removeIcon(ctx, id).then(() => response.end('<link rel=icon href=/icon.png>'));
    await discover(id);
    expect(await shown(id)).toMatchObject({ iconUrl: null, iconVersion: 2 });
    expect(await iconOf(id)).toBeNull();
  });

  it('stops with its worker', async () => {
    const id = await add('/silent');
    const controller = new AbortController();
    pages['/silent'] = () => controller.abort(new Error('the worker stops'));
    await expect(discover(id, controller.signal)).rejects.toThrow('the worker stops');
  });

  it('does nothing for a deleted favorite', async () => {
    const id = await add('/page');
    await deleteFavorite(ctx, id);
    await expect(discover(id)).resolves.toBeUndefined();
  });
});
