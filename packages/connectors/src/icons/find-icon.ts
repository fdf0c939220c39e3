import { z } from 'zod';
import { maxAddressLength } from '@portal/domain/web-address';
import { guardedFetch, type OutboundAnswer, type OutboundPolicy } from '../http/guarded-fetch.ts';
import { OutboundError } from '../http/outbound-error.ts';
import { addressOf, type IconLink, parseSizes, readIconLinks } from './icon-links.ts';

export interface IconSearch<Icon> {
  policy: OutboundPolicy;
  /** Largest icon. */
  maxBytes: number;
  /** Per request: the page, its manifest, and each icon. */
  timeoutMs: number;
  /** Turns the bytes into an icon; null if they are not one, and the search tries the next best. */
  read: (bytes: Buffer) => Icon | null | Promise<Icon | null>;
  signal?: AbortSignal;
}

export interface FoundIcon<Icon> {
  icon: Icon;
  /** Address of the icon; null if the page contained it as a data URL. */
  url: string | null;
}

/** Bytes read from a page or manifest; a page names its icons in the head. */
const textMaxBytes = 256 * 1024;
/** Maximum number of icons tried among those the page names. */
const maxTries = 6;
/** Size of a tile on a screen of double density, in pixels. */
const wantedSize = 64;

/** The icon at an address; null if there is none. Throws an OutboundError. */
export async function fetchIcon<Icon>(url: URL, search: IconSearch<Icon>): Promise<Icon | null> {
  const { policy, maxBytes, timeoutMs, signal, read } = search;
  const answer = await guardedFetch(url, policy, { maxBytes, timeoutMs, ...(signal && { signal }) });
  return answer.status === 200 ? read(answer.body) : null;
}

/**
 * The icon of a page: the best one it or its manifest names, otherwise its host's `/favicon.ico`, otherwise a mask.
 * Null if none is usable. Throws an OutboundError if the page cannot be reached and its host has no `/favicon.ico` either.
 */
export async function findIcon<Icon>(pageUrl: URL, search: IconSearch<Icon>): Promise<FoundIcon<Icon> | null> {
  const page = await fetchText(pageUrl, search).catch(passable);
  const url = page instanceof OutboundError ? pageUrl : page.url;
  const links = page instanceof OutboundError ? [] : await iconsOf(page, search);
  for (const candidate of candidatesOf(links, url)) {
    const icon = await iconAt(candidate, search);
    if (icon !== null) return { icon, url: candidate.protocol === 'data:' ? null : candidate.href };
  }
  if (page instanceof OutboundError) throw page;
  return null;
}

/** Returns a failure after which `/favicon.ico` may still work. Throws if the address is blocked. */
function passable(error: unknown): OutboundError {
  if (error instanceof OutboundError && error.reason !== 'blocked') return error;
  throw error;
}

function fetchText(
  url: URL,
  { policy, timeoutMs, signal }: Pick<IconSearch<unknown>, 'policy' | 'timeoutMs' | 'signal'>,
): Promise<OutboundAnswer> {
  const headers = { accept: 'text/html,application/xhtml+xml,application/manifest+json;q=0.9,*/*;q=0.8' };
  return guardedFetch(url, policy, {
    headers,
    maxBytes: textMaxBytes,
    overflow: 'cut',
    timeoutMs,
    ...(signal && { signal }),
  });
}

async function iconsOf(
  page: OutboundAnswer,
  search: Pick<IconSearch<unknown>, 'policy' | 'timeoutMs' | 'signal'>,
): Promise<IconLink[]> {
  const { icons, manifest } = readIconLinks(page.body.toString(), page.url);
  if (manifest === null || manifest.protocol === 'data:') return icons;
  const answer = await fetchText(manifest, search).catch((error: unknown) => {
    if (error instanceof OutboundError) return null;
    throw error;
  });
  return answer?.status === 200 ? [...icons, ...iconsOfManifest(answer)] : icons;
}

const Manifest = z.object({
  icons: z
    .array(
      z
        .object({ src: z.string(), sizes: z.string().catch(''), purpose: z.string().catch('any') })
        .nullable()
        .catch(null),
    )
    .max(100),
});

function iconsOfManifest({ body, url: manifestUrl }: OutboundAnswer): IconLink[] {
  const parsed = Manifest.safeParse(parseJson(body.toString()));
  return (parsed.data?.icons ?? []).flatMap((entry) => {
    const url = entry && addressOf(entry.src, manifestUrl);
    return url ? [{ url, size: parseSizes(entry.sizes), isMask: !entry.purpose.split(/\s+/).includes('any') }] : [];
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return null;
  }
}

/**
 * Addresses to try, best first: icons the page or its manifest names, the file every browser asks for, then a mask. Skips addresses too
 * long to store.
 */
function candidatesOf(links: IconLink[], pageUrl: URL): URL[] {
  const best = (isMask: boolean, count: number): URL[] =>
    links
      .filter(
        ({ url, isMask: is }) => is === isMask && (url.protocol === 'data:' || url.href.length <= maxAddressLength),
      )
      .toSorted((a, b) => rank(a) - rank(b))
      .map(({ url }) => url)
      .filter((url, index, all) => all.findIndex(({ href }) => href === url.href) === index)
      .slice(0, count);
  return [...best(false, maxTries), new URL('/favicon.ico', pageUrl), ...best(true, 1)];
}

/** Drawings first, then the smallest that is large enough, then those of unknown size, then the largest of the rest. */
function rank({ size }: IconLink): number {
  if (size === 'any') return 0;
  if (size === null) return 200_000;
  return size >= wantedSize ? size : 400_000 - size;
}

async function iconAt<Icon>(url: URL, search: IconSearch<Icon>): Promise<Icon | null> {
  if (url.protocol === 'data:') return search.read(bytesOfDataUrl(url));
  try {
    return await fetchIcon(url, search);
  } catch (error) {
    if (error instanceof OutboundError) return null;
    throw error;
  }
}

/** RFC 2397. A data URL without a comma has no content. */
function bytesOfDataUrl({ href }: URL): Buffer {
  const [, parameters = '', data = ''] = /^data:([^,]*),([^]*)$/i.exec(href) ?? [];
  const text = /%/.test(data) ? unescapeBytes(data) : Buffer.from(data);
  return /;\s*base64\s*$/i.test(parameters) ? Buffer.from(text.toString('latin1'), 'base64') : text;
}

const unescapeBytes = (data: string): Buffer =>
  Buffer.from(
    Buffer.from(data)
      .toString('latin1')
      .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
