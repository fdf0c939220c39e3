import { connect as connectTcp, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { BindRequest, type Control, ExtendedRequest, PagedResultsControl, SearchRequest, UnbindRequest } from 'ldapts';
import { checkedAddress } from '../http/checked-address.ts';
import { BerError, readElement } from './ber.ts';
import { LdapEntry } from './entry.ts';
import { parseFilter } from './filter.ts';
import { LdapError, type LdapFailureKind, type LdapResult, resultFailure, socketFailure } from './ldap-error.ts';
import {
  controlValue,
  type LdapMessage,
  MessageSplitter,
  MessageTooLongError,
  operation,
  pageCookie,
  parseMessage,
  parseResult,
} from './messages.ts';
import { ldapAddress, type LdapAddress, type LdapHost, tlsOptions } from './server.ts';

/*
 * ldapts only encodes the requests. The client of its version 9.2 fails these tests:
 * - "never reconnects" (directory.test.ts): the client reconnects after a loss. `autoRebind` does not help after StartTLS, so a search
 *   continues unbound over a plain connection;
 * - "continues after an empty page" (directory.test.ts): the client takes a page without entries for the last one;
 * - "never reads a truncated answer as a success" (messages.test.ts): the client takes an answer without a result code for a success;
 * - "rejects an entry larger than 12 MiB" and "counts unrequested messages, too" (directory.test.ts): the client buffers without limit;
 * - "gives up on a server that stalls in the middle of the TLS handshake" (directory.test.ts): the client waits forever for StartTLS.
 */

export interface ConnectionOptions {
  /** Aborts all pending calls with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** From the DNS lookup to the end of the TLS handshake; default 10 s. */
  connectTimeoutMs?: number | undefined;
  /** Per bind, page and read; default 30 s. */
  operationTimeoutMs?: number | undefined;
  /** Per answer, or per page of a paged answer; default 50 MB. */
  maxAnswerBytes?: number | undefined;
  /** Called with the approximate change of buffered bytes, negative for released ones. If it throws, the connection ends. */
  onHeld?: ((bytes: number) => void) | undefined;
}

export interface SearchRequestFields {
  base: string;
  scope: 'sub' | 'one' | 'base';
  filter: string;
  attributes: string[];
  /** Requests one page; the cookie of the first page is empty. */
  page?: { size: number; cookie: Buffer } | undefined;
}

export interface SearchAnswer {
  result: LdapResult;
  entries: LdapEntry[];
  /** LDAP URLs of further places to search, one per place. */
  references: string[];
  /** Requests the next page; empty after the last. */
  cookie: Buffer;
  /** Memory that the answer occupies until `release`. */
  bytes: number;
}

interface Operation {
  finalOperation: number;
  bytes: number;
  onPart: (message: LdapMessage) => void;
  resolve: (message: LdapMessage) => void;
  reject: (reason: unknown) => void;
}

const usualAnswerBytes = 50 * 1024 * 1024;
// Memory of an entry besides its text, so that the limit also holds for many small entries
export const entryOverheadBytes = 400;
const startTlsOid = '1.3.6.1.4.1.1466.20037';
// How long to wait for a peer that does not close the connection
const closeTimeoutMs = 1_000;

/** One connection to a directory server. It never reconnects: after a failure, every call throws that failure. */
export class LdapConnection {
  readonly address: LdapAddress;
  readonly #server: LdapHost;
  readonly #operationTimeoutMs: number;
  readonly #maxAnswerBytes: number;
  readonly #operations = new Map<number, Operation>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #dnsLookup = new AbortController();
  #socket: Socket | TLSSocket | null = null;
  readonly #splitter: MessageSplitter;
  readonly #onHeld: (bytes: number) => void;
  /** Counted in advance for a message that is still incomplete. */
  #expectedBytes = 0;
  #lastId = 0;
  #isAnonymous = true;
  #ending: { reason: unknown } | null = null;
  #onEnding: ((reason: unknown) => void) | null = null;

  private constructor(
    server: LdapHost,
    { operationTimeoutMs = 30_000, maxAnswerBytes = usualAnswerBytes, onHeld = () => undefined }: ConnectionOptions,
  ) {
    this.address = ldapAddress(server.url);
    this.#server = server;
    this.#operationTimeoutMs = operationTimeoutMs;
    this.#maxAnswerBytes = maxAnswerBytes;
    this.#splitter = new MessageSplitter(maxAnswerBytes);
    this.#onHeld = onHeld;
  }

  /** Connects, and encrypts if the settings say so. Throws an LdapError or the signal's reason. */
  static async open(server: LdapHost, options: ConnectionOptions = {}): Promise<LdapConnection> {
    const { signal, connectTimeoutMs = 10_000 } = options;
    signal?.throwIfAborted();
    const connection = new LdapConnection(server, options);
    const abort = (): void => connection.#end(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    void connection.#closed.promise.then(() => signal?.removeEventListener('abort', abort));
    const timer = setTimeout(() => connection.#fail('timeout', 'did not answer in time.'), connectTimeoutMs);
    try {
      await connection.#connect();
      return connection;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Signs in; empty texts bind anonymously. The result may be a refusal. */
  async bind(dn: string, password: string): Promise<LdapResult> {
    this.#isAnonymous = dn === '';
    const request = (messageId: number) => new BindRequest({ messageId, dn, password }).write();
    const { message } = await this.#request(request, operation.bindResponse);
    return this.#parse(() => parseResult(message.content));
  }

  /** Runs a search, or reads one page of it. Does not follow referrals. The result may be a refusal. */
  async search({ base, scope, filter, attributes, page }: SearchRequestFields): Promise<SearchAnswer> {
    const entries: LdapEntry[] = [];
    const references: string[] = [];
    const controls: Control[] = page === undefined ? [] : [new PagedResultsControl({ value: page })];
    const message = new SearchRequest({
      messageId: 0,
      baseDN: base,
      scope,
      filter: parseFilter(filter),
      attributes,
      timeLimit: Math.ceil(this.#operationTimeoutMs / 1_000),
      controls,
    });
    const toFailure = (error: unknown): unknown => this.#failureOf(error);
    const request = (messageId: number): Buffer => {
      message.messageId = messageId;
      return message.write();
    };
    const onPart = (part: LdapMessage): void => {
      if (part.operation === operation.searchEntry) {
        entries.push(new LdapEntry(part.content, toFailure));
      } else if (part.operation === operation.searchReference) {
        // Further URLs are other addresses of the same place
        const { start, end } = readElement(part.content, 0, 0x04);
        references.push(part.content.toString('utf8', start, end));
      } else {
        throw new BerError('an unexpected answer');
      }
    };
    const { message: done, bytes } = await this.#request(request, operation.searchDone, onPart);
    return this.#parse(() => ({
      bytes,
      result: parseResult(done.content),
      entries,
      references,
      cookie: pageCookie(controlValue(done.controls, PagedResultsControl.type)),
    }));
  }

  /** Gives back the memory of an answer. */
  release(bytes: number): void {
    this.#onHeld(-bytes);
  }

  /** Turns a refusal that this server answered into a failure. */
  refusal(result: LdapResult, step: 'bind' | 'search'): LdapError {
    return resultFailure(this.address, result, step, this.#isAnonymous);
  }

  /** Unbinds and waits until the socket is closed. Never throws. */
  async close(): Promise<void> {
    const socket = this.#socket;
    if (socket === null || this.#ending !== null) return this.#closed.promise;
    this.#ending = { reason: new Error('The portal closed the connection to the directory server.') };
    this.#rejectAll(this.#ending.reason);
    const timer = setTimeout(() => socket.destroy(), closeTimeoutMs);
    socket.write(new UnbindRequest({ messageId: this.#nextId() }).write());
    socket.destroySoon();
    await this.#closed.promise;
    clearTimeout(timer);
  }

  async #connect(): Promise<void> {
    const { host, port, isTls } = this.address;
    const to = { host, port, lookup: await this.#resolveHost(host, port) };
    if (isTls) {
      await this.#untilReady('secureConnect', () => connectTls({ ...tlsOptions(this.#server, host), ...to }));
      return;
    }
    await this.#untilReady('connect', () => connectTcp(to));
    if (this.#server.startTls) await this.#startTls(host);
  }

  /** Resolves the host and returns a lookup function limited to the checked addresses. */
  async #resolveHost(host: string, port: number): Promise<LookupFunction> {
    try {
      const { lookup } = await checkedAddress(host, port, this.#server.policy, this.#dnsLookup.signal);
      return lookup;
    } catch (error) {
      this.#closed.resolve();
      this.#end(socketFailure(this.address, error));
      throw this.#ending?.reason;
    }
  }

  async #startTls(host: string): Promise<void> {
    const request = (messageId: number) => new ExtendedRequest({ messageId, oid: startTlsOid }).write();
    const { message } = await this.#request(request, operation.extendedResponse);
    if (this.#parse(() => parseResult(message.content)).code !== 0) {
      throw this.#fail('protocol', 'does not offer StartTLS; choose ldaps, or set up a certificate on the server.');
    }
    const plain = this.#socket as Socket;
    plain.removeAllListeners('data');
    // Plain bytes after the answer would be taken for encrypted ones
    if (this.#splitter.isMidway) throw this.#fail('protocol', 'sends unencrypted data after the start of encryption.');
    await this.#untilReady('secureConnect', () => connectTls({ ...tlsOptions(this.#server, host), socket: plain }));
  }

  /** Opens a socket and uses it for the connection once it is ready. */
  async #untilReady(event: 'connect' | 'secureConnect', open: () => Socket): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (this.#ending !== null) throw this.#ending.reason;
    let socket: Socket;
    try {
      socket = open();
    } catch {
      // Node parses the CA certificates before it connects
      this.#closed.resolve();
      throw this.#fail('certificate', 'cannot be checked: the CA certificate in the settings is not readable.');
    }
    this.#onEnding = reject;
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('error', (error) => this.#end(socketFailure(this.address, error)));
    socket.on('close', () => {
      this.#end(this.#connectionLost());
      if (socket === this.#socket) this.#closed.resolve();
    });
    socket.once(event, resolve);
    await promise;
    this.#onEnding = null;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  #receive(chunk: Buffer): void {
    try {
      const messages = this.#splitter.push(chunk);
      this.#onHeld(this.#splitter.expectedBytes - this.#expectedBytes);
      this.#expectedBytes = this.#splitter.expectedBytes;
      for (const bytes of messages) {
        if (this.#ending !== null) return;
        this.#take(parseMessage(bytes), bytes.length);
      }
    } catch (error) {
      this.#end(this.#failureOf(error));
    }
  }

  #take(message: LdapMessage, bytes: number): void {
    // The only unsolicited message of a server announces that it disconnects (RFC 4511 section 4.4.1)
    if (message.id === 0) {
      this.#fail('unreachable', 'ended the connection.');
      return;
    }
    const waiting = this.#operations.get(message.id);
    // Unrequested messages count, too: an entry keeps the whole chunk alive in which it arrived
    for (const one of waiting ? [waiting] : this.#operations.values()) {
      one.bytes += bytes + entryOverheadBytes;
      this.#onHeld(bytes + entryOverheadBytes);
      if (one.bytes > this.#maxAnswerBytes) {
        this.#fail('protocol', 'sends more for one page than the portal accepts; choose a narrower base DN or filter.');
        return;
      }
    }
    if (waiting === undefined) return;
    if (message.operation === waiting.finalOperation) waiting.resolve(message);
    else waiting.onPart(message);
  }

  async #request(
    encode: (messageId: number) => Buffer,
    finalOperation: number,
    onPart: (message: LdapMessage) => void = () => {
      throw new BerError('an unexpected answer');
    },
  ): Promise<{ message: LdapMessage; bytes: number }> {
    if (this.#ending !== null) throw this.#ending.reason;
    const id = this.#nextId();
    const { promise, resolve, reject } = Promise.withResolvers<LdapMessage>();
    const timer = setTimeout(() => {
      const seconds = this.#operationTimeoutMs / 1_000;
      this.#fail('timeout', `did not finish its answer within ${seconds} seconds.`);
    }, this.#operationTimeoutMs);
    const own: Operation = { finalOperation, bytes: 0, onPart, resolve, reject };
    this.#operations.set(id, own);
    try {
      this.#socket?.write(encode(id));
      return { message: await promise, bytes: own.bytes };
    } finally {
      clearTimeout(timer);
      this.#operations.delete(id);
    }
  }

  #nextId(): number {
    this.#lastId = (this.#lastId % 0x7fff_fffe) + 1;
    return this.#lastId;
  }

  /** Parses an answer. An unreadable answer ends the connection. */
  #parse<Value>(read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      const failure = this.#failureOf(error);
      this.#end(failure);
      throw failure;
    }
  }

  #failureOf(error: unknown): unknown {
    if (error instanceof MessageTooLongError) {
      return new LdapError('protocol', this.address, 'sends a larger entry than the portal accepts.');
    }
    if (!(error instanceof BerError)) return error;
    return new LdapError('protocol', this.address, 'answers with something that is not LDAP; check the port.');
  }

  #connectionLost(): LdapError {
    const about = this.#operations.size > 0 ? ' in the middle of an answer.' : '.';
    return new LdapError('unreachable', this.address, `broke off the connection${about}`);
  }

  #fail(kind: LdapFailureKind, about: string): LdapError {
    const failure = new LdapError(kind, this.address, about);
    this.#end(failure);
    return failure;
  }

  #end(reason: unknown): void {
    if (this.#ending !== null) return;
    this.#ending = { reason };
    this.#dnsLookup.abort(reason);
    this.#socket?.destroy();
    this.#rejectAll(reason);
  }

  #rejectAll(reason: unknown): void {
    this.#onEnding?.(reason);
    for (const { reject } of this.#operations.values()) reject(reason);
  }
}
