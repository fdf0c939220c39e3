import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { TLSSocket } from 'node:tls';
import { PortalError } from '@portal/domain/errors';
import { withoutRootDot } from './allowed-hosts.ts';
import { type AddressPolicy, checkedAddresses } from './checked-address.ts';
import { OutboundError, reasonOf } from './outbound-error.ts';
import { type BodyLimits, bodyOf, type Destination, saveBody } from './read-body.ts';
import { type HttpMessage, send, type Trust } from './send.ts';

/** Where a call may lead. */
export interface OutboundPolicy extends AddressPolicy {
  /** Whether plain http is refused, on redirects too. */
  httpsOnly: boolean;
  /** For the host that is called; one it redirects to has to satisfy the authorities this machine trusts. */
  trust?: Trust;
}

export interface OutboundRequest extends HttpMessage, BodyLimits {
  /** Whether a redirect is gone after, three of them at most, or is the answer; a rule decides it of each one. */
  redirects?: 'follow' | 'answer' | ((to: URL, from: URL) => boolean);
  /** From the first look-up to the last byte, redirects included. */
  timeoutMs: number;
  /** From a look-up to the connection; the whole time unless given. */
  connectTimeoutMs?: number;
  signal?: AbortSignal;
}

export interface OutboundHead {
  status: number;
  /** The words beside the status; some servers say there what is wrong. */
  statusText: string;
  headers: IncomingHttpHeaders;
  /** Where the answer came from, after redirects. */
  url: URL;
  /** When the certificate that was shown runs out; null without one. */
  certificateValidTo: Date | null;
}

export interface OutboundAnswer extends OutboundHead {
  body: Buffer;
}

export interface SavedAnswer extends OutboundHead {
  /** Bytes in the file; null where there is none, because the status is none of success. */
  sizeBytes: number | null;
}

export interface OutboundSession extends Disposable {
  /** As guardedFetch. The connection to the origin of the first call is kept for the next ones. */
  fetch(address: string | URL, request: OutboundRequest): Promise<OutboundAnswer>;
}

const maxRedirects = 3;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Calls an address that somebody set (contract, “Outbound requests”). Every address its name resolves to must be one the policy
 * allows; the connection goes to one of those just checked, so that a name cannot change in between; each redirect starts over.
 * No proxy, no shared connection, no cookie. Any status is an answer. Throws an OutboundError, or the signal's reason.
 */
export const guardedFetch = (
  address: string | URL,
  policy: OutboundPolicy,
  request: OutboundRequest,
): Promise<OutboundAnswer> => call(address, policy, request, inMemory);

/** The same for a body that goes into a file, whatever its size. Only an answer of success leaves one. */
export const guardedDownload = (
  address: string | URL,
  policy: OutboundPolicy,
  { path, stallMs, ...request }: Omit<OutboundRequest, 'overflow'> & Destination,
): Promise<SavedAnswer> =>
  call(address, policy, request, async (response, host, { method, maxBytes }) => {
    const isSuccess = Math.floor((response.statusCode ?? 0) / 100) === 2;
    const limits = { maxBytes, ...(method !== undefined && { method }) };
    return { sizeBytes: isSuccess ? await saveBody(response, host, { path, stallMs, ...limits }) : null };
  });

/** For the calls of one run to one origin: one connection after the other is kept, to the addresses the first call found. */
export function openSession(policy: OutboundPolicy): OutboundSession {
  let kept: Kept | null = null;
  return {
    fetch: async (address, request) => {
      kept ??= keeping(checkedUrl(address, policy));
      return call(address, policy, request, inMemory, kept);
    },
    [Symbol.dispose]: () => kept?.agent.destroy(),
  };
}

/** A kept connection, and where it may lead. */
interface Kept {
  origin: string;
  agent: HttpAgent | HttpsAgent;
  addresses: string[] | null;
}

const keeping = ({ origin, protocol }: URL): Kept => ({
  origin,
  agent: new (protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: 1 }),
  addresses: null,
});

type Read<Body> = (response: IncomingMessage, host: string, request: OutboundRequest) => Promise<Body>;

const inMemory: Read<{ body: Buffer }> = async (response, host, request) => ({
  body: await bodyOf(response, host, request),
});

async function call<Body extends object>(
  address: string | URL,
  policy: OutboundPolicy,
  request: OutboundRequest,
  read: Read<Body>,
  kept: Kept | null = null,
): Promise<OutboundHead & Body> {
  let host = 'The address';
  let isConnected = false;
  // One for all that may end a call, and plain timers: signals made of signals cost more than the call.
  const ended = new AbortController();
  const late = setTimeout(
    () => ended.abort(new OutboundError(isConnected ? 'timeout' : 'unreachable', host)),
    request.timeoutMs,
  );
  const endByCaller = () => ended.abort(request.signal?.reason);
  request.signal?.addEventListener('abort', endByCaller, { once: true });
  try {
    request.signal?.throwIfAborted();
    const first = checkedUrl(address, policy);
    let hop = { url: first, request };
    for (let followed = 0; ; followed += 1) {
      host = hop.url.host;
      isConnected = false;
      const response = await ask(hop.url, hop.request, {
        policy,
        trust: hop.url.origin === first.origin ? policy.trust : undefined,
        kept: hop.url.origin === kept?.origin ? kept : null,
        ended,
        onConnected: () => (isConnected = true),
      });
      try {
        const next = followedRedirect(response, hop.url, request);
        if (next === null) return { ...headOf(response, hop.url), ...(await read(response, host, hop.request)) };
        if (followed === maxRedirects) throw new OutboundError('redirects', host);
        hop = { url: checkedUrl(next, policy), request: carriedOn(hop, response.statusCode, next) };
      } finally {
        // Nothing may be left on an answer nobody reads to its end.
        response.destroy();
      }
    }
  } catch (error) {
    request.signal?.throwIfAborted();
    ended.signal.throwIfAborted();
    throw error instanceof PortalError ? error : new OutboundError(reasonOf(error), host, error);
  } finally {
    clearTimeout(late);
    request.signal?.removeEventListener('abort', endByCaller);
  }
}

/** Sends one request to an address that was just checked, or where the kept connection leads. */
async function ask(
  url: URL,
  { connectTimeoutMs, ...message }: OutboundRequest,
  way: {
    policy: OutboundPolicy;
    trust: Trust | undefined;
    kept: Kept | null;
    ended: AbortController;
    onConnected: () => void;
  },
): Promise<IncomingMessage> {
  const { policy, trust, kept, ended } = way;
  const giveUp = () => ended.abort(new OutboundError('unreachable', url.host));
  const timer = connectTimeoutMs === undefined ? undefined : setTimeout(giveUp, connectTimeoutMs);
  try {
    const addresses = kept?.addresses ?? (await checkedAddresses(url, policy, ended.signal));
    if (kept) kept.addresses = addresses;
    return await send(url, message, {
      addresses,
      trust,
      agent: kept?.agent ?? null,
      signal: ended.signal,
      onConnected: () => {
        clearTimeout(timer);
        way.onConnected();
      },
    });
  } finally {
    clearTimeout(timer);
  }
}

/** The address as a URL that names nothing but a host to call and what to ask of it. */
function checkedUrl(address: string | URL, policy: OutboundPolicy): URL {
  const url = URL.parse(String(address));
  if (!url) throw new OutboundError('blocked', 'This');
  const isScheme = url.protocol === 'https:' || (url.protocol === 'http:' && !policy.httpsOnly);
  if (!isScheme || url.username !== '' || url.password !== '') throw new OutboundError('blocked', url.host || 'This');
  url.hostname = withoutRootDot(url.hostname);
  url.hash = '';
  return url;
}

const endOfCertificates = new WeakMap<TLSSocket, Date | null>();

/** Read once a connection. */
function validToOf(socket: TLSSocket): Date | null {
  let end = endOfCertificates.get(socket);
  if (end === undefined) {
    end = socket.getPeerX509Certificate()?.validToDate ?? null;
    endOfCertificates.set(socket, end);
  }
  return end;
}

const headOf = (response: IncomingMessage, url: URL): OutboundHead => {
  const { statusCode, statusMessage, headers, socket } = response;
  return {
    status: statusCode ?? 0,
    statusText: statusMessage ?? '',
    headers,
    url,
    certificateValidTo: socket instanceof TLSSocket ? validToOf(socket) : null,
  };
};

/** The redirect to go after; null when this is the answer. */
function followedRedirect(response: IncomingMessage, from: URL, { redirects: wish }: OutboundRequest): URL | null {
  const to = wish === 'answer' ? null : redirectOf(response, from);
  return to && typeof wish === 'function' && !wish(to, from) ? null : to;
}

/** Where an answer sends the caller; null when it is the answer. */
function redirectOf(response: IncomingMessage, from: URL): URL | null {
  const { location } = response.headers;
  if (!redirects.has(response.statusCode ?? 0) || location === undefined) return null;
  // Headers are read byte by byte; addresses in them are UTF-8 where they are not ASCII.
  const to = URL.parse(Buffer.from(location, 'latin1').toString(), from);
  if (!to) throw new OutboundError('malformed', from.host);
  return to;
}

/**
 * What goes on to the next host: headers only within one origin, and the request as it was, unless the status asks for another page
 * (303) or a form was sent to where something has moved (301, 302; RFC 9110, 15.4).
 */
function carriedOn(
  hop: { url: URL; request: OutboundRequest },
  status: number | undefined,
  next: URL,
): OutboundRequest {
  const { method = 'GET', headers, body, ...bounds } = hop.request;
  const isForm = method === 'POST' && (status === 301 || status === 302);
  const isRepeated = !isForm && (status !== 303 || method === 'HEAD');
  return {
    ...bounds,
    method: isRepeated ? method : 'GET',
    ...(headers && next.origin === hop.url.origin && { headers }),
    ...(isRepeated && body !== undefined && { body }),
  };
}
