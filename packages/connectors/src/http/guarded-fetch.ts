import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { TLSSocket } from 'node:tls';
import { PortalError } from '@portal/domain/errors';
import { withoutRootDot } from './allowed-hosts.ts';
import { type AddressPolicy, checkedAddresses } from './checked-address.ts';
import { OutboundError, reasonOf } from './outbound-error.ts';
import { type BodyLimits, bodyOf, type Destination, saveBody } from './read-body.ts';
import { type HttpMessage, send, type Trust } from './send.ts';

/** Which addresses a call may reach. */
export interface OutboundPolicy extends AddressPolicy {
  /** Refuses plain http, on redirects too. */
  httpsOnly: boolean;
  /** For the origin of the call; after a redirect to another origin, the authorities of this machine decide. */
  trust?: Trust;
}

export interface OutboundRequest extends HttpMessage, BodyLimits {
  /** Follows redirects (default, at most three), answers them, or decides for each by a rule. */
  redirects?: 'follow' | 'answer' | ((to: URL, from: URL) => boolean);
  /** Time limit from the first look-up to the last byte, redirects included. */
  timeoutMs: number;
  /** Time limit from a look-up to the connection; by default only `timeoutMs` applies. */
  connectTimeoutMs?: number;
  signal?: AbortSignal;
}

export interface OutboundHead {
  status: number;
  /** The reason phrase; some servers explain a failure there. */
  statusText: string;
  headers: IncomingHttpHeaders;
  /** The URL of the answer, after redirects. */
  url: URL;
  /** Expiry of the server's certificate; null without one. */
  certificateValidTo: Date | null;
}

export interface OutboundAnswer extends OutboundHead {
  body: Buffer;
}

export interface SavedAnswer extends OutboundHead {
  /** Size of the file; null if the status is not 2xx, which leaves no file. */
  sizeBytes: number | null;
}

export interface OutboundSession extends Disposable {
  /** As guardedFetch. The connection to the origin of the first call stays open for the next calls. */
  fetch(address: string | URL, request: OutboundRequest): Promise<OutboundAnswer>;
}

const maxRedirects = 3;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Calls an address that a user or administrator set. The policy must allow every address of its name.
 * The connection goes to one of the checked addresses, so that the name cannot change in between; `fetch` would resolve it a second time.
 * Each redirect starts over.
 * No proxy, no shared connection, no cookie. Any status is an answer. Throws an OutboundError, or the signal's reason.
 */
export const guardedFetch = (
  address: string | URL,
  policy: OutboundPolicy,
  request: OutboundRequest,
): Promise<OutboundAnswer> => call(address, policy, request, inMemory);

/**
 * As guardedFetch, but saves the body to a file, of any size. Only a 2xx answer leaves a file. V8 frees used chunks only after some 70 MB
 * have gathered, regardless of the size and the number of downloads. Both processes have room for that; a lower bound needs a flag that is no
 * public interface of Node.
 */
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

/**
 * For the calls of one run to one origin: reuses one connection, to the addresses that the first call resolved. It does not resume the TLS
 * session of an earlier run, although that would save a tenth of the processor time of a poll: a resumed session shows no certificate, so
 * an expired or exchanged one would stay unnoticed for hours.
 */
export function openSession(policy: OutboundPolicy): OutboundSession {
  let keepAlive: KeepAlive | null = null;
  return {
    fetch: async (address, request) => {
      keepAlive ??= keepAliveTo(checkedUrl(address, policy));
      return call(address, policy, request, inMemory, keepAlive);
    },
    [Symbol.dispose]: () => keepAlive?.agent.destroy(),
  };
}

/** The connection of a session, and its resolved addresses. */
interface KeepAlive {
  origin: string;
  agent: HttpAgent | HttpsAgent;
  addresses: string[] | null;
}

const keepAliveTo = ({ origin, protocol }: URL): KeepAlive => ({
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
  keepAlive: KeepAlive | null = null,
): Promise<OutboundHead & Body> {
  let host = 'The address';
  let isConnected = false;
  // One controller for every reason to end the call, and plain timers: AbortSignal.any costs more than the call.
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
        keepAlive: hop.url.origin === keepAlive?.origin ? keepAlive : null,
        ended,
        onConnected: () => (isConnected = true),
      });
      try {
        const next = followedRedirect(response, hop.url, request);
        if (next === null) return { ...headOf(response, hop.url), ...(await read(response, host, hop.request)) };
        if (followed === maxRedirects) throw new OutboundError('redirects', host);
        hop = { url: checkedUrl(next, policy), request: redirectedRequest(hop, response.statusCode, next) };
      } finally {
        // An answer that is not read to its end must not keep its connection.
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

/** Sends one request to a checked address, or over the session's connection. */
async function ask(
  url: URL,
  { connectTimeoutMs, ...message }: OutboundRequest,
  options: {
    policy: OutboundPolicy;
    trust: Trust | undefined;
    keepAlive: KeepAlive | null;
    ended: AbortController;
    onConnected: () => void;
  },
): Promise<IncomingMessage> {
  const { policy, trust, keepAlive, ended } = options;
  const giveUp = () => ended.abort(new OutboundError('unreachable', url.host));
  const timer = connectTimeoutMs === undefined ? undefined : setTimeout(giveUp, connectTimeoutMs);
  try {
    const addresses = keepAlive?.addresses ?? (await checkedAddresses(url, policy, ended.signal));
    if (keepAlive) keepAlive.addresses = addresses;
    return await send(url, message, {
      addresses,
      trust,
      agent: keepAlive?.agent ?? null,
      signal: ended.signal,
      onConnected: () => {
        clearTimeout(timer);
        options.onConnected();
      },
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Parses the address: an allowed scheme, no credentials, no fragment. */
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

/** Read once per connection. */
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

/** The redirect to follow; null if this is the answer. */
function followedRedirect(response: IncomingMessage, from: URL, { redirects: mode }: OutboundRequest): URL | null {
  const to = mode === 'answer' ? null : redirectOf(response, from);
  return to && typeof mode === 'function' && !mode(to, from) ? null : to;
}

/** The target of a redirect; null for any other answer. */
function redirectOf(response: IncomingMessage, from: URL): URL | null {
  const { location } = response.headers;
  if (!redirects.has(response.statusCode ?? 0) || location === undefined) return null;
  // Node decodes headers as latin1; non-ASCII addresses in them are UTF-8.
  const to = URL.parse(Buffer.from(location, 'latin1').toString(), from);
  if (!to) throw new OutboundError('malformed', from.host);
  return to;
}

/**
 * The request to the target of a redirect. Headers stay only within one origin. Method and body stay, except after 303 and for a POST
 * after 301 or 302 (RFC 9110, 15.4).
 */
function redirectedRequest(
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
