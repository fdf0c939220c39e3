import { createHash } from 'node:crypto';
import type { AddressPolicy } from '@portal/connectors/http/checked-address';
import { fetchFeed, type FetchedFeed } from '@portal/connectors/tenders/fetch-feed';
import { SourceFailure } from '@portal/connectors/tenders/source-failure';
import { MINUTE } from '@portal/domain/time';
import { parseFeedInSandbox } from './parse-in-sandbox.ts';
import type { SourceRead } from './source-read.ts';

/** What is kept of a feed's last answer. */
export interface Validators {
  etag: string | null;
  lastModified: string | null;
  bodyHash: string | null;
}

export interface FeedOutcome extends Validators {
  movedTo: FetchedFeed['movedTo'];
  /** How long the feed wants to be kept. */
  wishMs: number;
}

/** Reads a feed unless it is as it was. Its validators are for keeping once all of it is stored. */
export async function readFeedSource(
  read: SourceRead,
  { url, policy, known }: { url: string; policy: AddressPolicy; known: Validators },
): Promise<FeedOutcome> {
  const { etag, lastModified } = known;
  const fetched = await fetchFeed({ url, policy, etag, lastModified, signal: read.signal });
  const kept = { etag: fetched.etag, lastModified: fetched.lastModified, movedTo: fetched.movedTo };
  if (fetched.body === null) return { ...kept, bodyHash: known.bodyHash, wishMs: fetched.maxAgeMs ?? 0 };
  const bodyHash = createHash('sha256').update(fetched.body).digest('base64url');
  if (bodyHash === known.bodyHash) return { ...kept, bodyHash, wishMs: fetched.maxAgeMs ?? 0 };
  const { notices, refused, ttlMin } = await parseFeedInSandbox(read.system, {
    sourcePortal: read.source,
    url: fetched.url,
    charset: fetched.charset,
    bytes: fetched.body,
  });
  const [first] = refused;
  if (notices.length === 0 && first?.name === 'The feed') throw new SourceFailure(`The feed ${first.reason}`);
  read.refuse(refused);
  await read.store(notices);
  const wishMs = Math.max(fetched.maxAgeMs ?? 0, (ttlMin ?? 0) * MINUTE);
  // What was left for later is read although the feed does not change until then.
  if (read.withheldCount() > 0)
    return { movedTo: kept.movedTo, etag: null, lastModified: null, bodyHash: null, wishMs };
  return { ...kept, bodyHash, wishMs };
}
