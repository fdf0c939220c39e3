import type { IncomingHttpHeaders } from 'node:http';
import { MINUTE, SECOND } from '@portal/domain/time';
import type { AddressPolicy } from '../http/checked-address.ts';
import { guardedFetch, type OutboundAnswer } from '../http/guarded-fetch.ts';
import { asSourceFailure, refusedBy, SourceFailure } from './source-failure.ts';

export interface FeedRequest {
  url: string;
  policy: AddressPolicy;
  /** The validators of the last answer. */
  etag: string | null;
  lastModified: string | null;
  signal: AbortSignal;
}

export interface FetchedFeed {
  /** Null if the feed has not changed. */
  body: Buffer | null;
  /** The charset of the `Content-Type` header. */
  charset: string | null;
  /** The address after redirects. */
  url: string;
  /** The new address if all redirects were permanent. */
  movedTo: string | null;
  etag: string | null;
  lastModified: string | null;
  /** `max-age` of the answer. */
  maxAgeMs: number | null;
}

const maxBodyBytes = 5 * 1024 * 1024;
const totalMs = 20 * SECOND;
const connectMs = 10 * SECOND;
const maxRedirects = 3;
const permanent: ReadonlySet<number> = new Set([301, 308]);
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Fetches a feed if it has changed. The policy checks every address on the way. Throws a SourceFailure. */
export async function fetchFeed({ url, policy, etag, lastModified, signal }: FeedRequest): Promise<FetchedFeed> {
  const conditions = {
    ...(etag !== null && { 'if-none-match': etag }),
    ...(lastModified !== null && { 'if-modified-since': lastModified }),
  };
  const deadline = performance.now() + totalMs;
  const asked = URL.parse(url);
  if (!asked) throw new SourceFailure('The address of this feed is not valid.');
  let address = asked;
  let isPermanent = true;
  let answer: OutboundAnswer;
  for (let followed = 0; ; followed += 1) {
    answer = await guardedFetch(
      address,
      { ...policy, httpsOnly: false },
      {
        headers: {
          accept: 'application/atom+xml, application/rss+xml, application/rdf+xml, application/xml;q=0.9, */*;q=0.5',
          // Sent to every address on the way: the validators belong to the final answer.
          ...conditions,
        },
        redirects: 'answer',
        maxBytes: maxBodyBytes,
        timeoutMs: Math.max(1, Math.ceil(deadline - performance.now())),
        connectTimeoutMs: connectMs,
        signal,
      },
    ).catch(asSourceFailure(address.host));
    const to = redirects.has(answer.status) ? redirectTarget(answer.headers, address) : null;
    if (to === null) break;
    if (followed === maxRedirects) throw new SourceFailure(`${address.host} redirected too often.`);
    isPermanent &&= permanent.has(answer.status);
    address = to;
  }
  const { headers, status } = answer;
  if (status !== 200 && status !== 304) throw refusedBy(address.host, answer);
  return {
    body: status === 304 ? null : answer.body,
    charset: /charset\s*=\s*"?([\w.:-]{1,40})/i.exec(headers['content-type'] ?? '')?.[1] ?? null,
    url: address.href,
    movedTo: isPermanent && address.href !== asked.href ? address.href : null,
    etag: validator(headers.etag) ?? (status === 304 ? etag : null),
    lastModified: validator(headers['last-modified']) ?? (status === 304 ? lastModified : null),
    maxAgeMs: maxAge(headers['cache-control']),
  };
}

function redirectTarget({ location }: IncomingHttpHeaders, from: URL): URL {
  // Node decodes headers as Latin-1; addresses that are not ASCII are UTF-8.
  const to = location === undefined ? null : URL.parse(Buffer.from(location, 'latin1').toString(), from);
  if (!to) throw new SourceFailure(`${from.host} sent a redirect without a valid address.`);
  return to;
}

/** A validator is sent back byte for byte, so it must be a valid header value. */
const validator = (value: string | undefined): string | null =>
  value !== undefined && value.length <= 500 && /^[\x20-\x7e]+$/.test(value) ? value : null;

const maxAgeLimitMs = 24 * 60 * MINUTE;

function maxAge(cacheControl: string | undefined): number | null {
  const seconds = /(?:^|[\s,])max-age\s*=\s*"?(\d{1,9})/i.exec(cacheControl ?? '')?.[1];
  return seconds === undefined ? null : Math.min(Number(seconds) * SECOND, maxAgeLimitMs);
}
