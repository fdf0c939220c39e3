import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { open } from '@portal/domain/access';
import { notFound, PortalError } from '@portal/domain/errors';
import type { Config } from '@portal/platform/config';
import { isAbsent, openPlainFile } from '@portal/platform/files/plain-file';
import { isUnchanged, sendFile } from '../files.ts';
import { sessionTokenOf } from '../session-cookie.ts';
import type { App } from '../zod-app.ts';
import { acceptedCodings } from './accepted-codings.ts';

const access = open('the pages contain no data and sign in by the same routes as any program');

/** The page decides by its address what to show. */
const pageAddresses = ['/app', '/app/*', '/reset-password', '/confirm-email'];
const dashboard = /^\/app(?:\/tabs\/(?<tabId>[0-9a-f-]{36}))?\/?(?:\?|$)/;

const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; font-src 'self'; manifest-src 'self'; frame-src https:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

const assetTypes = new Map([
  ['js', 'text/javascript; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
  ['svg', 'image/svg+xml'],
  ['png', 'image/png'],
  ['ico', 'image/x-icon'],
  ['woff2', 'font/woff2'],
  ['json', 'application/json; charset=utf-8'],
  ['webmanifest', 'application/manifest+json; charset=utf-8'],
  // Only builds for developers have these.
  ['map', 'application/json; charset=utf-8'],
]);

/** A file name without folders, of a length that file systems take; its end is the type. */
const assetName = /^[\w.-]{1,100}\.(\w{1,20})$/;

const yearSec = 365 * 24 * 60 * 60;

/**
 * The built pages of `apps/web`: one HTML page for all addresses, and the hashed files that it names. Without `webDir` none of these
 * paths exist. Every request reads the files anew, so that a build may replace them while the service runs.
 *
 * Not with @fastify/static: `sendFile` sends files here already, with its own headers and refusals, and all it lacks is the choice of
 * a compressed file, which is shorter than the options that would bring the plugin in line.
 */
export function registerWeb(app: App, { webDir }: Config): void {
  if (webDir === null) return;
  const options = { config: { access }, schema: { hide: true } };
  app.get('/', options, (_request, reply) => reply.redirect('/app'));
  for (const address of pageAddresses) app.get(address, options, (request, reply) => sendPage(request, reply, webDir));
  app.get('/assets/*', options, (request, reply) => sendAsset(request, reply, join(webDir, 'assets')));
}

async function sendPage(request: FastifyRequest, reply: FastifyReply, webDir: string): Promise<FastifyReply> {
  const page = await readFile(join(webDir, 'index.html')).catch((error: unknown) => {
    if (!isAbsent(error)) throw error;
    throw new PortalError('NOT_FOUND', 'The pages have not been built yet; the command pnpm build:web builds them.');
  });
  const shown = sessionTokenOf(request) === undefined ? null : dashboard.exec(request.url);
  const links = shown && (await dashboardLinks(webDir, shown.groups?.['tabId']));
  // Part of the tag: with a 304, a browser keeps the links of the answer it has stored, also after the session has ended.
  const tag = `"${createHash('sha256')
    .update(page)
    .update(links ?? '')
    .digest('base64url')}"`;
  reply.header('etag', tag).header('cache-control', 'no-cache').header('content-security-policy', pagePolicy);
  if (links !== null) reply.header('link', links);
  if (isUnchanged(request, tag)) return reply.status(304).send();
  return reply.type('text/html; charset=utf-8').send(page);
}

/** What the dashboard of a signed-in account loads first. The browser fetches it while the page itself still loads. */
async function dashboardLinks(webDir: string, tabId: string | undefined): Promise<string> {
  // The page works without these hints: a build that runs right now may have written half of them.
  const { dashboard: chunks } = await readFile(join(webDir, 'preload.json'), 'utf8')
    .then((text) => Preload.parse(JSON.parse(text)))
    .catch(() => ({ dashboard: [] }));
  return [
    ...['/auth/me', tabId === undefined ? '/dashboard' : `/dashboard?tabId=${tabId}`, '/modules/active'].map(
      (path) => `<${path}>; rel=preload; as=fetch; crossorigin=anonymous`,
    ),
    ...chunks.map((path) => `<${path}>; rel=modulepreload`),
  ].join(', ');
}

/** Written by the build. */
const Preload = z.object({ dashboard: z.array(z.string().regex(/^\/assets\/[\w.-]+$/)) });

async function sendAsset(request: FastifyRequest, reply: FastifyReply, folder: string): Promise<FastifyReply> {
  const { '*': name } = request.params as { '*': string };
  const type = assetTypes.get(assetName.exec(name)?.[1] ?? '');
  if (type === undefined) throw notFound();
  // The build writes a compressed file beside each file that gets smaller by it.
  const accepted = acceptedCodings(request.headers['accept-encoding'], { br: '.br', gzip: '.gz' });
  for (const [coding, suffix] of [...accepted, [null, '']] as const) {
    const file = await openPlainFile(join(folder, `${name}${suffix}`));
    if (!file) continue;
    if (coding !== null) reply.header('content-encoding', coding);
    const varies = [reply.getHeader('vary') ?? [], 'Accept-Encoding'].flat().join(', ');
    reply.header('vary', varies).header('cache-control', `public, max-age=${yearSec}, immutable`);
    return sendFile(request, reply, { type }, () => file);
  }
  throw notFound();
}
