import { type Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { type Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { createSecureContext, type SecureContext } from 'node:tls';
import { portOf } from './allowed-hosts.ts';
import { bareHost, pinnedTo } from './checked-address.ts';

export interface HttpMessage {
  method?: string;
  /** Sent to the host named, and on redirects only as long as scheme, host and port stay the same. */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** By what a host proves who it is, unless the authorities this machine trusts are to decide. */
export interface Trust {
  /** PEM of the authorities that may have issued its certificate. */
  caCertificatePem: string | null;
  /** Any certificate will do, so anyone in between may read along. */
  skipTlsVerify: boolean;
}

export interface Way {
  /** The addresses of the host that were checked. */
  addresses: string[];
  trust: Trust | undefined;
  /** Keeps the connection; without one it is the request's own. */
  agent: HttpAgent | HttpsAgent | null;
  signal: AbortSignal;
  /** Told once there is a connection, encrypted where it is to be. */
  onConnected: () => void;
}

const maxHeaderBytes = 16 * 1024;
const onlyOnce: ReadonlySet<string> = new Set(['POST', 'PATCH']);

/** Sends a request over HTTP, and answers once the headers of its answer are there. */
export function send(url: URL, message: HttpMessage, way: Way): Promise<IncomingMessage> {
  const { method = 'GET', headers, body } = message;
  const isTls = url.protocol === 'https:';
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = (isTls ? requestHttps : requestHttp)({
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
    agent: way.agent ?? false,
    lookup: pinnedTo(way.addresses),
    maxHeaderSize: maxHeaderBytes,
    ...(isTls && tlsOptions(way.trust)),
  });
  const end = () => outgoing.destroy(way.signal.reason);
  way.signal.addEventListener('abort', end, { once: true });
  if (way.signal.aborted) end();
  let isAnswered = false;
  outgoing.on('response', (response) => {
    isAnswered = true;
    resolve(response);
  });
  outgoing.on('socket', (socket) => {
    if (outgoing.reusedSocket) way.onConnected();
    else socket.once(isTls ? 'secureConnect' : 'connect', way.onConnected);
  });
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    // A host may close a kept connection while a request is on its way; what it may have begun to do is not sent twice.
    const isStale = outgoing.reusedSocket && !isAnswered && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '');
    if (isStale && !onlyOnce.has(method)) resolve(send(url, message, way));
    else reject(error);
  });
  outgoing.end(body);
  return promise;
}

const byThisMachine: Trust = { caCertificatePem: null, skipTlsVerify: false };

const tlsOptions = ({ caCertificatePem, skipTlsVerify }: Trust = byThisMachine) => ({
  secureContext: contextOf(caCertificatePem),
  rejectUnauthorized: !skipTlsVerify,
});

/** Contexts of the authorities that were asked for last: to read certificates anew takes as long as a handshake. */
const contexts = new Map<string | null, SecureContext>();
const maxContexts = 100;

function contextOf(ca: string | null): SecureContext {
  const context = contexts.get(ca) ?? createSecureContext(ca === null ? {} : { ca });
  contexts.delete(ca);
  contexts.set(ca, context);
  const [oldest] = contexts.keys();
  if (contexts.size > maxContexts && oldest !== undefined) contexts.delete(oldest);
  return context;
}
