import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type AllowedHost, isAllowedHost, portOf, withoutRootDot } from './allowed-hosts.ts';
import { OutboundFailure, reasonOf } from './outbound-failure.ts';
import { isPublicAddress } from './public-address.ts';
import { resolveByDns, resolveBySystem, type ResolveHost } from './resolve-host.ts';

/** Where a call may lead. */
export interface OutboundPolicy {
  /** Whether plain http is refused, on redirects too. */
  httpsOnly: boolean;
  /** Hosts that may be called though they are not public (the setting OUTBOUND_ALLOW_HOSTS). */
  allowHosts: readonly AllowedHost[];
  /** How names become addresses; this machine's DNS unless given. */
  resolve?: ResolveHost;
}

export interface OutboundRequest {
  method?: string;
  /** Sent to the host named, and on redirects only as long as scheme, host and port stay the same. */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Most bytes taken of the body, after decompression. */
  maxBytes: number;
  /** What becomes of a longer body: refused as `too_large` unless `cut`, which takes its beginning. */
  overflow?: 'refuse' | 'cut';
  /** From the first look-up to the last byte, redirects included. */
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface OutboundAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Where the answer came from, after redirects. */
  url: URL;
  body: Buffer;
}

const maxRedirects = 3;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const maxHeaderBytes = 16 * 1024;
const readAheadBytes = 256 * 1024;
/** Addresses of one name that are tried. */
const maxAddresses = 6;

/**
 * Calls an address that a plain user may have chosen (contract, “Outbound requests”). Every address its name resolves to must be
 * public; the connection goes to one of those just checked, so that a name cannot change in between; each redirect starts over.
 * No proxy, no shared connection, no cookie. Any status is an answer. Throws an OutboundFailure, or the signal's reason.
 */
export async function guardedFetch(
  address: string | URL,
  policy: OutboundPolicy,
  request: OutboundRequest,
): Promise<OutboundAnswer> {
  const late = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal ? AbortSignal.any([request.signal, late]) : late;
  let host = 'The address';
  try {
    let hop = { url: checkedUrl(address, policy), request };
    for (let followed = 0; ; followed += 1) {
      host = hop.url.host;
      const response = await send(hop.url, policy, hop.request, signal);
      try {
        const next = redirectOf(response, hop.url);
        if (next === null) return await readAnswer(response, hop.url, hop.request);
        if (followed === maxRedirects) throw new OutboundFailure('redirects', host);
        hop = { url: checkedUrl(next, policy), request: carriedOn(hop, response.statusCode, next) };
      } finally {
        // Nothing may be left on an answer nobody reads to its end.
        response.destroy();
      }
    }
  } catch (error) {
    request.signal?.throwIfAborted();
    if (late.aborted) throw new OutboundFailure('timeout', host, error);
    throw error instanceof OutboundFailure ? error : new OutboundFailure(reasonOf(error), host, error);
  }
}

/** The address as a URL that names nothing but a host to call and what to ask of it. */
function checkedUrl(address: string | URL, policy: OutboundPolicy): URL {
  const url = URL.parse(String(address));
  if (!url) throw new OutboundFailure('blocked', 'This');
  const isScheme = url.protocol === 'https:' || (url.protocol === 'http:' && !policy.httpsOnly);
  if (!isScheme || url.username !== '' || url.password !== '') throw new OutboundFailure('blocked', url.host || 'This');
  url.hostname = withoutRootDot(url.hostname);
  url.hash = '';
  return url;
}

/** The addresses of a host, each one checked. */
async function checkedAddresses(url: URL, policy: OutboundPolicy, signal: AbortSignal): Promise<string[]> {
  const isAllowed = isAllowedHost(url, policy.allowHosts);
  const host = bareHost(url);
  const resolve = policy.resolve ?? (isAllowed ? resolveBySystem : resolveByDns());
  const addresses = isIP(host) === 0 ? await orAbort(resolve(host, signal), signal) : [host];
  if (!isAllowed && !addresses.every(isPublicAddress)) throw new OutboundFailure('blocked', url.host);
  return addresses.slice(0, maxAddresses);
}

/** Without the brackets of an IPv6 address. */
const bareHost = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

async function send(
  url: URL,
  policy: OutboundPolicy,
  { method = 'GET', headers, body }: OutboundRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const addresses = await checkedAddresses(url, policy, signal);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = (url.protocol === 'https:' ? requestHttps : requestHttp)({
    method,
    hostname: bareHost(url),
    port: portOf(url),
    path: `${url.pathname}${url.search}`,
    headers: {
      accept: '*/*',
      'user-agent': 'Portal',
      ...headers,
      // Of both, what is true of the connection counts, whatever a caller says.
      host: url.host,
      'accept-encoding': 'gzip, deflate, br',
    },
    // A connection of its own: one kept open would have been checked for another call.
    agent: false,
    lookup: pinnedTo(addresses),
    maxHeaderSize: maxHeaderBytes,
    signal,
  });
  outgoing.on('response', resolve);
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}

/** Answers the addresses that were checked, so that the name is not looked up a second time. */
const pinnedTo = (addresses: string[]): LookupFunction => {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, { all }, answer) => {
    const [first] = found;
    if (all) answer(null, found);
    else answer(null, first?.address ?? '', first?.family);
  };
};

/** Where an answer sends the caller; null when it is the answer. */
function redirectOf(response: IncomingMessage, from: URL): URL | null {
  const { location } = response.headers;
  if (!redirects.has(response.statusCode ?? 0) || location === undefined) return null;
  // Headers are read byte by byte; addresses in them are UTF-8 where they are not ASCII.
  const to = URL.parse(Buffer.from(location, 'latin1').toString(), from);
  if (!to) throw new OutboundFailure('malformed', from.host);
  return to;
}

/** What goes on to the next host: a question without a body unless the status says otherwise, and headers only within one origin. */
function carriedOn(
  hop: { url: URL; request: OutboundRequest },
  status: number | undefined,
  next: URL,
): OutboundRequest {
  const { method = 'GET', headers, body, ...bounds } = hop.request;
  const isRepeated = status === 307 || status === 308 || ['GET', 'HEAD'].includes(method);
  return {
    ...bounds,
    method: isRepeated ? method : 'GET',
    ...(headers && next.origin === hop.url.origin && { headers }),
    ...(isRepeated && body !== undefined && { body }),
  };
}

class Enough extends Error {}

async function readAnswer(response: IncomingMessage, url: URL, request: OutboundRequest): Promise<OutboundAnswer> {
  const { maxBytes, overflow = 'refuse' } = request;
  const hasBody = request.method !== 'HEAD' && response.statusCode !== 204 && response.statusCode !== 304;
  const chunks: Buffer[] = [];
  let room = maxBytes;
  try {
    await pipeline([
      response,
      ...(hasBody ? decodersOf(response, maxBytes, url.host) : []),
      async (source: AsyncIterable<Buffer>) => {
        for await (const chunk of source) {
          chunks.push(chunk.subarray(0, room));
          room -= chunk.length;
          if (room >= 0) continue;
          throw overflow === 'cut' ? new Enough() : new OutboundFailure('too_large', url.host);
        }
      },
    ]);
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  return { status: response.statusCode ?? 0, headers: response.headers, url, body: Buffer.concat(chunks) };
}

/** Ends a body that goes on and on while it unpacks to nothing. */
const limitTo = (bytes: number, host: string) =>
  async function* (source: AsyncIterable<Buffer>) {
    let left = bytes;
    for await (const chunk of source) {
      left -= chunk.length;
      if (left < 0) throw new OutboundFailure('too_large', host);
      yield chunk;
    }
  };

const decoders: Record<string, () => Duplex> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** What undoes the one compression an answer may have; nobody who was asked for one sends several. */
function decodersOf({ headers }: IncomingMessage, maxBytes: number, host: string) {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return [];
  const decoder = decoders[encoding];
  if (!decoder) throw new OutboundFailure('malformed', host);
  // Packed, a body is rarely larger than unpacked; what is read ahead must not count against one that is cut.
  return [limitTo(2 * maxBytes + readAheadBytes, host), decoder()];
}

/** The work's outcome, or the signal's reason as soon as there is one. */
async function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
    aborted.promise.catch(() => undefined);
  }
}
