import type { IncomingHttpHeaders } from 'node:http';
import { MINUTE, SECOND } from '@portal/domain/time';
import type { AddressPolicy } from '../http/checked-address.ts';
import { guardedFetch, type OutboundAnswer } from '../http/guarded-fetch.ts';
import { asSourceFailure, refusedBy, SourceFailure } from './source-failure.ts';

export interface FeedRequest {
  url: string;
  policy: AddressPolicy;
  /** As they were sent last time. */
  etag: string | null;
  lastModified: string | null;
  signal: AbortSignal;
}

export interface FetchedFeed {
  /** Null where nothing has changed. */
  body: Buffer | null;
  /** What the server says the body is written in. */
  charset: string | null;
  /** Where it came from, after redirects. */
  url: string;
  /** The address to use from now on, if it is said to have moved for good. */
  movedTo: string | null;
  etag: string | null;
  lastModified: string | null;
  /** How long the server says the answer stays as it is. */
  maxAgeMs: number | null;
}

const maxBodyBytes = 5 * 1024 * 1024;
const totalMs = 20 * SECOND;
const connectMs = 10 * SECOND;
const maxRedirects = 3;
const permanent: ReadonlySet<number> = new Set([301, 308]);
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Asks for a feed, unless it is as it was. Every address on the way is checked by the policy. Throws a SourceFailure. */
export async function fetchFeed({ url, policy, etag, lastModified, signal }: FeedRequest): Promise<FetchedFeed> {
  const conditions = {
    ...(etag !== null && { 'if-none-match': etag }),
    ...(lastModified !== null && { 'if-modified-since': lastModified }),
  };
  const deadline = performance.now() + totalMs;
  const asked = URL.parse(url);
  if (!asked) throw new SourceFailure('The address of this feed is not valid.');
  let address = asked;
  let isForGood = true;
  let answer: OutboundAnswer;
  for (let followed = 0; ; followed += 1) {
    answer = await guardedFetch(
      address,
      { ...policy, httpsOnly: false },
      {
        headers: {
          accept: 'application/atom+xml, application/rss+xml, application/rdf+xml, application/xml;q=0.9, */*;q=0.5',
          // Validators are those of the address they came from, wherever it leads.
          ...conditions,
        },
        redirects: 'answer',
        maxBytes: maxBodyBytes,
        timeoutMs: Math.max(1, Math.ceil(deadline - performance.now())),
        connectTimeoutMs: connectMs,
        signal,
      },
    ).catch(asSourceFailure(address.host));
    const to = redirects.has(answer.status) ? leadingTo(answer.headers, address) : null;
    if (to === null) break;
    if (followed === maxRedirects) throw new SourceFailure(`${address.host} redirected too often.`);
    isForGood &&= permanent.has(answer.status);
    address = to;
  }
  const { headers, status } = answer;
  if (status !== 200 && status !== 304) throw refusedBy(address.host, answer);
  return {
    body: status === 304 ? null : answer.body,
    charset: /charset\s*=\s*"?([\w.:-]{1,40})/i.exec(headers['content-type'] ?? '')?.[1] ?? null,
    url: address.href,
    movedTo: isForGood && address.href !== asked.href ? address.href : null,
    etag: validator(headers.etag) ?? (status === 304 ? etag : null),
    lastModified: validator(headers['last-modified']) ?? (status === 304 ? lastModified : null),
    maxAgeMs: maxAge(headers['cache-control']),
  };
}

function leadingTo({ location }: IncomingHttpHeaders, from: URL): URL {
  // Headers are read byte by byte; addresses in them are UTF-8 where they are not ASCII.
  const to = location === undefined ? null : URL.parse(Buffer.from(location, 'latin1').toString(), from);
  if (!to) throw new SourceFailure(`${from.host} redirects to nowhere.`);
  return to;
}

/** Sent back byte for byte, so it has to be something a header can hold. */
const validator = (value: string | undefined): string | null =>
  value !== undefined && value.length <= 500 && /^[\x20-\x7e]+$/.test(value) ? value : null;

const longestMaxAgeMs = 24 * 60 * MINUTE;

function maxAge(cacheControl: string | undefined): number | null {
  const seconds = /(?:^|[\s,])max-age\s*=\s*"?(\d{1,9})/i.exec(cacheControl ?? '')?.[1];
  return seconds === undefined ? null : Math.min(Number(seconds) * SECOND, longestMaxAgeMs);
}
