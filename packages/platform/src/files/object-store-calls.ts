import { createHash } from 'node:crypto';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import aws4 from 'aws4';
import { GatheredBytes } from '@portal/domain/gathered-bytes';
import type { Secret } from '@portal/domain/secret';
import { HOUR, MINUTE, SECOND } from '@portal/domain/time';
import type { ObjectStoreAddress } from './object-store-address.ts';
import { ObjectStoreError, type ObjectStoreFault, storeUnavailable } from './object-store-error.ts';
import { FileStream } from './opened-file.ts';

export interface ObjectStoreSettings extends ObjectStoreAddress {
  accessKeyId: string;
  secretAccessKey: Secret;
}

interface Call {
  /** For errors: what the call is about. */
  operation: string;
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Below the bucket; empty for the bucket itself. */
  key?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array;
  signal?: AbortSignal | undefined;
}

export interface StoreAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  /** When the store sent the answer, by its own clock. */
  sentAt: number;
  body: Uint8Array;
}

export interface ObjectStoreCalls {
  /** Resolves with a 2xx answer and its body; null for an object or an upload that does not exist. */
  ask(call: Call): Promise<StoreAnswer | null>;
  /** Resolves once the answer to a GET has begun, with its bytes; null for an object that does not exist. */
  stream(call: Call): Promise<{ stream: Readable; length: number } | null>;
  close(): void;
}

const maxAnswerBytes = 8 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
/** More than an API has requests at a time, so that slow readers do not keep others from the store. */
const maxSockets = 1_000;
const maxTries = 3;

export const usualTimes = {
  /** One try, to the end of the answer, or to its head where the body is streamed. */
  tryMs: 5 * SECOND,
  /** All tries of a call, with the pauses between them. */
  callMs: 15 * SECOND,
  /** What a try of writing gets on top: the time of a line of 16 Mbit/s. With less, a store that hangs would hold an upload for a minute. */
  writeBytesPerMs: 2_000,
  /** For a body that is streamed: the store's longest silence, its reader's longest rest, and the end in any case. */
  silenceMs: 30 * SECOND,
  restMs: 5 * MINUTE,
  downloadMs: HOUR,
  /** How often these three are looked at. */
  watchMs: 5 * SECOND,
};

export interface ObjectStoreOptions {
  times?: typeof usualTimes;
  /** Called for each call that failed after its tries, and each download that broke off. */
  onFault?: (fault: ObjectStoreFault) => void;
}

const codeInBody = /<Code>([A-Za-z0-9.]{1,64})<\/Code>/;
const absentCodes: ReadonlySet<string> = new Set(['NoSuchKey', 'NoSuchUpload']);
const faultByCode: Record<string, ObjectStoreFault> = {
  NoSuchBucket: 'no_bucket',
  RequestTimeTooSkewed: 'wrong_clock',
  RequestExpired: 'wrong_clock',
  PermanentRedirect: 'elsewhere',
  TemporaryRedirect: 'elsewhere',
  AuthorizationHeaderMalformed: 'elsewhere',
  SlowDown: 'overloaded',
  TooManyRequests: 'overloaded',
  ServiceUnavailable: 'overloaded',
  RequestTimeout: 'timeout',
  OperationAborted: 'failing',
  // What arrived is not what was sent.
  BadDigest: 'failing',
  XAmzContentSHA256Mismatch: 'failing',
  IncompleteBody: 'failing',
};

/**
 * Calls an S3-compatible store by path-style addresses. Every call is signed, with the hash of its body, and repeated after faults that pass.
 * Throws an ObjectStoreError, or the signal's reason.
 */
export function openObjectStoreCalls(
  settings: ObjectStoreSettings,
  { times = usualTimes, onFault = () => undefined }: ObjectStoreOptions = {},
): ObjectStoreCalls {
  const { endpoint, bucket, region } = settings;
  const isTls = endpoint.protocol === 'https:';
  const agent = new (isTls ? HttpsAgent : HttpAgent)({
    keepAlive: true,
    maxSockets,
    maxFreeSockets: 16,
  });
  readIntoOneBuffer(agent);
  const credentials = { accessKeyId: settings.accessKeyId, secretAccessKey: settings.secretAccessKey.reveal() };
  const base = `${endpoint.pathname.replace(/\/$/, '')}/${bucket}`;

  /** Sends the call once; resolves with the head of the answer. */
  function send(call: Call, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, key = '', query = {}, headers = {}, body } = call;
    const search = new URLSearchParams(query).toString();
    const signed = aws4.sign(
      {
        service: 's3',
        region,
        method,
        host: endpoint.host,
        path: `${base}${key === '' ? '' : `/${key}`}${search === '' ? '' : `?${search}`}`,
        headers: {
          ...headers,
          'x-amz-content-sha256': createHash('sha256')
            .update(body ?? '')
            .digest('hex'),
          ...(body && {
            'content-length': String(body.length),
            // Stores that do not compare the signed hash with the body compare this one.
            'content-md5': createHash('md5').update(body).digest('base64'),
          }),
        },
      },
      credentials,
    );
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = (isTls ? requestHttps : requestHttp)({
      method,
      hostname: endpoint.hostname.replace(/^\[|\]$/g, ''),
      port: endpoint.port,
      path: signed.path,
      headers: signed.headers,
      agent,
      maxHeaderSize: 16 * 1024,
      signal,
    });
    outgoing.on('response', resolve).on('error', (error: NodeJS.ErrnoException) => {
      // The store may close an idle connection while a call is on its way.
      const isStale = outgoing.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '');
      if (isStale && !signal.aborted) resolve(send(call, signal));
      else reject(error);
    });
    outgoing.end(body);
    return promise;
  }

  /** Repeats `attempt` after faults that pass. */
  async function withTries<T>(
    call: Call,
    attempt: (signal: AbortSignal, settle: () => void) => Promise<T>,
  ): Promise<T> {
    const writingMs = (call.body?.length ?? 0) / times.writeBytesPerMs;
    const until = performance.now() + times.callMs + 2 * writingMs;
    for (let tries = 1; ; tries += 1) {
      const ended = new AbortController();
      const late = () => ended.abort(new ObjectStoreError('timeout', call.operation, endpoint.host));
      const timer = setTimeout(late, Math.min(times.tryMs + writingMs, until - performance.now()));
      const stop = () => ended.abort(call.signal?.reason);
      call.signal?.addEventListener('abort', stop, { once: true });
      try {
        call.signal?.throwIfAborted();
        return await attempt(ended.signal, () => clearTimeout(timer));
      } catch (error) {
        call.signal?.throwIfAborted();
        const failure = failureOf(ended.signal.aborted ? ended.signal.reason : error, call);
        const pauseMs = 100 * 2 ** tries * (1 + Math.random());
        if (tries === maxTries || !passes.has(failure.fault) || performance.now() + pauseMs > until)
          throw counted(failure);
        await pause(pauseMs, undefined, call.signal && { signal: call.signal });
      } finally {
        clearTimeout(timer);
        call.signal?.removeEventListener('abort', stop);
      }
    }
  }

  function counted(error: ObjectStoreError): ObjectStoreError {
    // A store may lack a call that we can do without.
    if (error.fault !== 'unsupported') onFault(error.fault);
    return error;
  }

  const failureOf = (error: unknown, { operation }: Call): ObjectStoreError => {
    if (error instanceof ObjectStoreError) return error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const fault = code.startsWith('HPE_') ? 'malformed' : 'unreachable';
    return new ObjectStoreError(fault, operation, endpoint.host, code, error);
  };

  /** Null for an absent object; throws for every other answer that is no success. */
  async function checked(call: Call, response: IncomingMessage): Promise<IncomingMessage | null> {
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    const code = codeOf(await bytesOf(response, maxErrorBytes, call)) ?? String(status);
    // An answer to HEAD has no body that would tell an absent object from an absent bucket.
    if (absentCodes.has(code) || (status === 404 && call.method === 'HEAD')) return null;
    throw new ObjectStoreError(faultOf(status, code), call.operation, endpoint.host, code);
  }

  async function bytesOf(response: IncomingMessage, maxBytes: number, { operation }: Call): Promise<Uint8Array> {
    const gathered = new GatheredBytes();
    // Leaving the loop early closes the connection.
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (gathered.length + chunk.length > maxBytes)
        throw new ObjectStoreError('malformed', operation, endpoint.host, 'answer too large');
      gathered.add(chunk);
    }
    return gathered.take();
  }

  return {
    ask: (call) =>
      withTries(call, async (signal) => {
        const response = await checked(call, await send(call, signal));
        if (response === null) return null;
        const body = await bytesOf(response, maxAnswerBytes, call);
        // The completion of an upload may begin with 200 and end with an error.
        const code = call.method === 'POST' ? codeOf(body) : undefined;
        if (code !== undefined) throw new ObjectStoreError(faultOf(500, code), call.operation, endpoint.host, code);
        const { statusCode: status = 0, headers } = response;
        const sentAt = Date.parse(headers.date ?? '');
        return { status, headers, sentAt: Number.isNaN(sentAt) ? Date.now() : sentAt, body };
      }),

    stream: (call) =>
      withTries(call, async (signal, settle) => {
        const response = await checked(call, await send(call, signal));
        if (response === null) return null;
        const length = Number(response.headers['content-length'] ?? 'none');
        if (!Number.isSafeInteger(length)) {
          response.destroy();
          throw new ObjectStoreError('malformed', call.operation, endpoint.host, 'no Content-Length');
        }
        // From here on the reader sets the pace, within the limits of the stream.
        settle();
        return {
          stream: new AnswerReader(response, times, (error) => storeUnavailable(counted(failureOf(error, call)))),
          length,
        };
      }),

    close: () => agent.destroy(),
  };
}

const passes: ReadonlySet<ObjectStoreFault> = new Set(['unreachable', 'timeout', 'overloaded', 'failing']);

const codeOf = (body: Uint8Array): string | undefined =>
  codeInBody.exec(Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, maxErrorBytes)).toString())?.[1];

function faultOf(status: number, code: string): ObjectStoreFault {
  const known = faultByCode[code];
  if (known !== undefined) return known;
  if (status === 429) return 'overloaded';
  if (status === 405 || status === 501) return 'unsupported';
  if (status === 301 || status === 307 || status === 308) return 'elsewhere';
  if (status >= 500 || status === 408) return 'failing';
  return status === 401 || status === 403 ? 'refused' : 'malformed';
}

/**
 * Lets all sockets of an agent read into the same memory, instead of new memory for every piece. Each piece is dealt with before the next is
 * read, and Node's parser of HTTP copies what it passes on.
 */
function readIntoOneBuffer(agent: HttpAgent): void {
  const connect = agent.createConnection.bind(agent);
  const buffer = Buffer.allocUnsafeSlow(64 * 1024);
  agent.createConnection = (options, onSocket) => {
    const callback = (length: number): true => {
      socket?.emit('data', buffer.subarray(0, length));
      return true;
    };
    const reading = { ...options, onread: { buffer, callback } };
    const socket = connect(reading, onSocket);
    return socket;
  };
}

/** The bytes of an answer. Gives up when the store is silent, when the reader rests too long, and after an hour. */
class AnswerReader extends FileStream {
  readonly #answer: IncomingMessage;
  readonly #watch: NodeJS.Timeout;
  #movedAt = performance.now();
  /** At most what the receiver holds, because nothing is read ahead. */
  #passedOn: Buffer[] = [];

  constructor(answer: IncomingMessage, times: typeof usualTimes, failed: (error: unknown) => Error) {
    super({ highWaterMark: 0 });
    this.#answer = answer;
    const begun = this.#movedAt;
    this.#watch = setInterval(() => {
      const now = performance.now();
      const longestMs = answer.isPaused() ? times.restMs : times.silenceMs;
      if (now - this.#movedAt > longestMs) this.destroy(failed(new Error(`nothing moved for ${longestMs} ms`)));
      else if (now - begun > times.downloadMs) this.destroy(failed(new Error('the download took too long')));
    }, times.watchMs);
    // Until the reader asks for more.
    answer.pause();
    answer.on('data', (piece: Buffer) => {
      this.#movedAt = performance.now();
      if (this.isDone !== null) this.#passedOn.push(piece);
      if (!this.push(piece)) answer.pause();
    });
    answer.on('end', () => this.push(null));
    answer.on('error', (error) => this.destroy(failed(error)));
    // An answer that ends early has an error.
    answer.on('close', () => clearInterval(this.#watch));
    // Perhaps no listener is there yet, or any more; a reader meets the error all the same.
    this.on('error', () => undefined);
  }

  override _read(): void {
    this.#movedAt = performance.now();
    // A transfer frees the memory at once.
    if (this.readableLength === 0 && this.isDone?.())
      for (const { buffer } of this.#passedOn.splice(0)) (buffer as ArrayBuffer).transfer(0);
    this.#answer.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.#watch);
    this.#answer.destroy();
    done(error);
  }
}
