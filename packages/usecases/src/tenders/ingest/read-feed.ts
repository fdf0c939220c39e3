import { createHash } from 'node:crypto';
import type { AddressPolicy } from '@portal/connectors/http/checked-address';
import { fetchFeed, type FetchedFeed } from '@portal/connectors/tenders/fetch-feed';
import { SourceFailure } from '@portal/connectors/tenders/source-failure';
import { MINUTE } from '@portal/domain/time';
import { parseFeedInSandbox } from './parse-in-sandbox.ts';
import type { SourceRead } from './source-read.ts';

/** The cache validators of a feed's last answer. */
export interface Validators {
  etag: string | null;
  lastModified: string | null;
  bodyHash: string | null;
}

export interface FeedOutcome extends Validators {
  movedTo: FetchedFeed['movedTo'];
  /** How long the feed asks not to be fetched again. */
  ttlMs: number;
}

/** Reads a feed unless it is unchanged. Returns its new validators; the caller stores them after this function has stored all notices. */
export async function readFeedSource(
  read: SourceRead,
  { url, policy, known }: { url: string; policy: AddressPolicy; known: Validators },
): Promise<FeedOutcome> {
  const { etag, lastModified } = known;
  const fetched = await fetchFeed({ url, policy, etag, lastModified, signal: read.signal });
  const answer = { etag: fetched.etag, lastModified: fetched.lastModified, movedTo: fetched.movedTo };
  if (fetched.body === null) return { ...answer, bodyHash: known.bodyHash, ttlMs: fetched.maxAgeMs ?? 0 };
  const bodyHash = createHash('sha256').update(fetched.body).digest('base64url');
  if (bodyHash === known.bodyHash) return { ...answer, bodyHash, ttlMs: fetched.maxAgeMs ?? 0 };
  const { notices, refused, ttlMin } = await parseFeedInSandbox(read, {
    sourcePortal: read.source,
    url: fetched.url,
    charset: fetched.charset,
    bytes: fetched.body,
  });
  const [first] = refused;
  if (notices.length === 0 && first?.name === 'The feed') throw new SourceFailure(`The feed ${first.reason}`);
  read.refuse(refused);
  await read.store(notices);
  const ttlMs = Math.max(fetched.maxAgeMs ?? 0, (ttlMin ?? 0) * MINUTE);
  // Notices were withheld: forget the validators, so that the next read gets them even if the feed is unchanged.
  if (read.withheldCount() > 0)
    return { movedTo: answer.movedTo, etag: null, lastModified: null, bodyHash: null, ttlMs };
  return { ...answer, bodyHash, ttlMs };
}
