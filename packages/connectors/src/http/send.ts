import { type Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { type Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { createSecureContext, type SecureContext } from 'node:tls';
import { portOf } from './allowed-hosts.ts';
import { bareHost, pinnedTo } from './checked-address.ts';

export interface HttpMessage {
  method?: string;
  /** Sent to the named host; on redirects only while scheme, host and port stay the same. */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** How to verify a host's certificate, instead of with the authorities of this machine. */
export interface Trust {
  /** PEM of the authorities that may have issued its certificate. */
  caCertificatePem: string | null;
  /** Accepts any certificate, so a third party on the way can read along. */
  skipTlsVerify: boolean;
}

export interface SendOptions {
  /** The checked addresses of the host. */
  addresses: string[];
  trust: Trust | undefined;
  /** Keeps the connection open; null means a connection for this request only. */
  agent: HttpAgent | HttpsAgent | null;
  signal: AbortSignal;
  /** Called once the connection is established, including TLS if used. */
  onConnected: () => void;
}

const maxHeaderBytes = 16 * 1024;
const onlyOnce: ReadonlySet<string> = new Set(['POST', 'PATCH']);

/** Sends an HTTP request and resolves once the headers of the answer have arrived. */
export function send(url: URL, message: HttpMessage, options: SendOptions): Promise<IncomingMessage> {
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
      // These describe our own connection, so a caller cannot override them.
      host: url.host,
      'accept-encoding': 'gzip, deflate, br',
    },
    agent: options.agent ?? false,
    lookup: pinnedTo(options.addresses),
    maxHeaderSize: maxHeaderBytes,
    ...(isTls && tlsOptions(options.trust)),
  });
  const end = () => outgoing.destroy(options.signal.reason);
  options.signal.addEventListener('abort', end, { once: true });
  if (options.signal.aborted) end();
  let isAnswered = false;
  outgoing.on('response', (response) => {
    isAnswered = true;
    resolve(response);
  });
  outgoing.on('socket', (socket) => {
    if (outgoing.reusedSocket) options.onConnected();
    else socket.once(isTls ? 'secureConnect' : 'connect', options.onConnected);
  });
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    // A host may close an idle connection while a request is on its way. POST and PATCH are not repeated: the host may have begun them.
    const isStale = outgoing.reusedSocket && !isAnswered && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '');
    if (isStale && !onlyOnce.has(method)) resolve(send(url, message, options));
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

/** The most recently used contexts by authority: parsing certificates again takes as long as a handshake. */
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
