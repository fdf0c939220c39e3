import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { dayOf } from '@portal/domain/tenders/notice-times';
import { tedFields, TedNotice } from '@portal/domain/tenders/ted-notice';
import type { AddressPolicy } from '../http/checked-address.ts';
import { openSession, type OutboundSession } from '../http/guarded-fetch.ts';
import { asSourceFailure, refusedBy, SourceFailure } from './source-failure.ts';

export interface TedSearch {
  url: string;
  policy: AddressPolicy;
  /** First and last day of publication, `2026-11-19`. */
  from: string;
  to: string;
  signal: AbortSignal;
  /** Pause between two requests, in milliseconds. */
  pauseMs?: number;
}

/** Limits of the search API. */
const pageSize = 250;
const maxFieldsTimesPage = 10_000;
/** Half a million notices: more than all of Europe publishes in the longest period we read. */
const maxPages = 2_000;
const maxPageBytes = 32 * 1024 * 1024;
const requestTimeoutMs = 60_000;
const tries = 4;
const maxWaitMs = 60_000;

const Answer = z.object({
  notices: z.array(TedNotice),
  totalNoticeCount: z.number().int().nonnegative(),
  iterationNextToken: z.string().max(10_000).nullish(),
  timedOut: z.boolean().nullish(),
});
type Answer = z.output<typeof Answer>;

const ErrorAnswer = z.object({ error: z.object({ type: z.string() }) });

/** The snapshot of the index no longer exists. */
class LostIterationError extends Error {}

/**
 * Every notice of these days about or from Germany, page by page, each notice once. Iterates over a snapshot of the index, which has no cap
 * on the total as numbered pages do; if the snapshot is lost, the iteration starts again, once. Requests all versions, because the search
 * loses notices when it selects the latest itself. Throws a SourceFailure, or the signal's reason.
 */
export async function* tedPages(search: TedSearch): AsyncGenerator<TedNotice[], void> {
  const { host } = new URL(search.url);
  if (tedFields.length * pageSize > maxFieldsTimesPage)
    throw new TypeError('The search API allows fewer fields per page.');
  using session = openSession({ ...search.policy, httpsOnly: false });
  const seen = new Set<string>();
  for (let attempt = 1; ; attempt += 1) {
    try {
      yield* walk(search, session, host, seen);
      return;
    } catch (error) {
      if (!(error instanceof LostIterationError)) throw error;
      if (attempt === 2) throw new SourceFailure(`${host} lost the position in the result list twice.`);
    }
  }
}

async function* walk(
  search: TedSearch,
  session: OutboundSession,
  host: string,
  seen: Set<string>,
): AsyncGenerator<TedNotice[], void> {
  let token: string | null = null;
  let received = 0;
  for (let page = 0; page < maxPages; page += 1) {
    if (page > 0) await pause(search.pauseMs ?? 1_000, undefined, { signal: search.signal });
    const answer: Answer = await ask(search, session, host, token);
    received += answer.notices.length;
    const fresh = answer.notices.filter((notice) => isNew(notice, seen));
    for (const notice of fresh) checkDay(notice, search, host);
    if (fresh.length > 0) yield fresh;
    // A token may outlive the last page.
    if (answer.notices.length === 0 || received >= answer.totalNoticeCount) break;
    token = answer.iterationNextToken ?? null;
    if (token === null) break;
  }
  search.signal.throwIfAborted();
}

/** Pages can overlap, and a restarted iteration repeats all notices. */
function isNew(notice: TedNotice, seen: Set<string>): boolean {
  const id = JSON.stringify([notice['publication-number'], notice['notice-version']]);
  if (seen.has(id)) return false;
  seen.add(id);
  return true;
}

/** The search reports no error for a date it does not understand: it finds nothing or everything. */
function checkDay(notice: TedNotice, { from, to }: TedSearch, host: string): void {
  const date: unknown = notice['publication-date'];
  const day = dayOf(String(Array.isArray(date) ? date[0] : date));
  if (day !== null && (day < from || day > to))
    throw new SourceFailure(`${host} sent a notice of ${day}, which was not requested.`);
}

async function ask(search: TedSearch, session: OutboundSession, host: string, token: string | null): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await askOnce(search, session, host, token);
    } catch (error) {
      search.signal.throwIfAborted();
      if (!(error instanceof SourceFailure) || error.isFinal || attempt === tries) throw error;
      const waitMs = error.retryAfterMs ?? 1_000 * 2 ** attempt;
      // If the server asks for a longer pause, wait until the next read.
      if (waitMs > maxWaitMs) throw error;
      await pause(search.pauseMs === undefined ? waitMs : Math.min(waitMs, search.pauseMs), undefined, {
        signal: search.signal,
      });
    }
  }
}

async function askOnce(
  { url, from, to, signal }: TedSearch,
  session: OutboundSession,
  host: string,
  token: string | null,
): Promise<Answer> {
  const day = (iso: string) => iso.replaceAll('-', '');
  const answer = await session
    .fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({
        query: `(buyer-country = DEU OR place-of-performance = DEU) AND publication-date >= ${day(from)} AND publication-date <= ${day(to)} SORT BY publication-number ASC`,
        fields: tedFields,
        limit: pageSize,
        scope: 'ALL',
        paginationMode: 'ITERATION',
        onlyLatestVersions: false,
        ...(token !== null && { iterationNextToken: token }),
      }),
      maxBytes: maxPageBytes,
      timeoutMs: requestTimeoutMs,
      signal,
    })
    .catch(asSourceFailure(host));
  const json = jsonOf(answer.body);
  if (answer.status !== 200) {
    const type = ErrorAnswer.safeParse(json).data?.error.type ?? '';
    // A lost snapshot is sometimes reported as a plain 500.
    if (token !== null && (type.endsWith('ITERATION_TOKEN') || answer.status === 500)) throw new LostIterationError();
    if (answer.status === 400)
      throw new SourceFailure(`${host} rejected the query (${shown(type)}).`, { isFinal: true });
    throw refusedBy(host, answer);
  }
  const page = Answer.safeParse(json);
  if (!page.success) throw new SourceFailure(`${host} sent an answer that is not a list of notices.`);
  if (page.data.timedOut) throw new SourceFailure(`${host} timed out and sent only part of the list.`);
  return page.data;
}

const shown = (type: string): string => /^[A-Z_]{1,60}$/.exec(type)?.[0] ?? '400';

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}
