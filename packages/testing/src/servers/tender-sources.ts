import { randomBytes } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { dialectXml, eformsXml, type MadeUpNotice } from '../made-up-notices.ts';
import { type ZipEntry, zipOf } from '../zip.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';

/** A fault of the next request to the search. */
export type JournalFault =
  | 'timed-out'
  | 'server-error'
  | 'busy'
  | 'lost-token'
  | 'lost-token-500'
  | 'syntax'
  | 'no-json'
  | 'other-day'
  | 'overlap';

export interface FeedAnswer {
  body?: string | Buffer;
  status?: number;
  headers?: OutgoingHttpHeaders;
  /** A request with this ETag gets 304. */
  etag?: string;
  lastModified?: string;
}

export interface TenderSources {
  origin: string;
  urls: { ted: string; export: string; bund: string };
  /** The addresses as settings. */
  env: Record<string, string>;
  /** The European journal: its notices, its next faults and the received requests. */
  journal: { notices: Record<string, unknown>[]; faults: JournalFault[]; pageSize: number; requests: JournalRequest[] };
  /** The archive of each day; a day without notices has an empty archive. */
  days: Map<string, ZipEntry[] | Buffer>;
  /** Replaces the answer for a day: with a status or with bytes. */
  exportAnswer: ((day: string) => { status: number } | Iterable<Buffer> | AsyncIterable<Buffer> | undefined) | null;
  exportRequests: string[];
  /** Feeds by path; `/bund.xml` is the federal feed. */
  feeds: Map<string, FeedAnswer>;
  feedRequests: { path: string; headers: IncomingMessage['headers'] }[];
  /** Delay of each answer. */
  latencyMs: number;
  connections(): number;
  stop(): Promise<void>;
}

interface JournalRequest {
  query: string;
  fields: string[];
  limit: number;
  scope: string;
  paginationMode: string;
  iterationNextToken?: string;
  onlyLatestVersions: boolean;
}

/** The archive entry of a notice; a notice with a number as id uses the dialect. */
export const exportEntry = (notice: MadeUpNotice, options: { padding?: number } = {}): ZipEntry => {
  const isDialect = /^\d+$/.test(notice.id);
  const version = isDialect ? String(notice.version) : String(notice.version).padStart(2, '0');
  return {
    name: `${notice.id}-${version}.xml`,
    bytes: Buffer.from(isDialect ? dialectXml(notice) : eformsXml(notice, options)),
  };
};

/** Starts the tender sources over HTTP on 127.0.0.1, with the quirks of the real ones. At first they have no notices. */
export async function startTenderSources({ port = 0 } = {}): Promise<TenderSources> {
  /** For each token, a frozen list and the start of the next page in it. */
  const tokens = new Map<string, { question: string; found: Record<string, unknown>[]; at: number }>();

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', sources.origin);
    if (sources.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, sources.latencyMs));
    if (url.pathname === '/v3/notices/search') return search(request, response);
    if (url.pathname === '/api/notice-exports') return archive(url, request, response);
    return feed(url.pathname, request, response);
  }

  async function search(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return json(response, 405, { message: 'Method not allowed' });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as JournalRequest;
    const { journal } = sources;
    journal.requests.push(body);
    const refuse = (type: string, status = 400) => json(response, status, { message: type, error: { type } });
    const fault = journal.faults.shift();
    if (fault === 'server-error') return json(response, 502, { message: 'Bad gateway' });
    if (fault === 'busy') return json(response, 429, { message: 'Too many requests' }, { 'retry-after': '1' });
    if (fault === 'syntax') return refuse('QUERY_SYNTAX_ERROR');
    if (fault === 'lost-token') return refuse('EXPIRED_ITERATION_TOKEN');
    if (fault === 'lost-token-500') return json(response, 500, { message: 'Internal error' });
    if (fault === 'no-json') return void response.writeHead(200).end('<html>maintenance</html>');

    const [, from = '', to = ''] =
      /publication-date >= (\d{8}) AND publication-date <= (\d{8}) SORT BY/.exec(body.query) ?? [];
    if (from === '') return refuse('QUERY_SYNTAX_ERROR');
    if (body.limit > 250 || body.limit * body.fields.length > 10_000) return refuse('SEARCH_EXCEEDS_MAX_LIMIT');
    if (body.paginationMode !== 'ITERATION') return refuse('SEARCH_WINDOW_TOO_WIDE');
    const question = JSON.stringify([body.query, body.fields, body.limit]);
    const token = body.iterationNextToken;
    const place =
      token === undefined
        ? { question, found: published(from, to, body.onlyLatestVersions), at: 0 }
        : tokens.get(token);
    if (!place || place.question !== question) return refuse('INVALID_ITERATION_TOKEN');
    const size = Math.min(journal.pageSize, body.limit);
    const page = place.found.slice(place.at, place.at + size);
    // The last notice of the page before repeats.
    if (fault === 'overlap' && place.at > 0) page.unshift(...place.found.slice(place.at - 1, place.at));
    if (fault === 'other-day')
      page.push({ ...page[0], 'publication-number': '1-1999', 'publication-date': '1999-01-01Z' });
    const next = randomBytes(9).toString('base64url');
    tokens.set(next, { ...place, at: place.at + size });
    json(response, 200, {
      notices: fault === 'timed-out' ? page.slice(0, page.length / 2) : page,
      totalNoticeCount: place.found.length,
      // The last page has a token, too.
      iterationNextToken: next,
      timedOut: fault === 'timed-out',
    });
  }

  /** The notices of a window in order of their numbers. As in the real source, a single value is sometimes a list and sometimes bare. */
  function published(from: string, to: string, onlyLatest: boolean): Record<string, unknown>[] {
    const day = (notice: Record<string, unknown>) =>
      String(notice['publication-date']).slice(0, 10).replaceAll('-', '');
    const found = sources.journal.notices
      .filter((notice) => day(notice) >= from && day(notice) <= to)
      .toSorted(
        (a, b) =>
          Number.parseInt(String(a['publication-number']), 10) - Number.parseInt(String(b['publication-number']), 10),
      )
      .map((notice, n) => (n % 2 === 0 ? notice : bare(notice)));
    // The real source omits notices from a search for the latest versions.
    return onlyLatest ? found.slice(0, -1) : found;
  }

  function archive(url: URL, request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    const day = url.searchParams.get('pubDay');
    const status = (code: number, message: string) => json(response, code, { message });
    if (request.headers.accept === 'application/json') return status(406, 'Not acceptable');
    if (![null, 'eforms.zip'].includes(url.searchParams.get('format'))) return status(415, 'Unsupported format');
    if (day === null || !/^\d{4}-\d{2}-\d{2}$/.test(day) || day < '2022-12-01') return status(400, 'Bad date');
    const today = Temporal.Now.plainDateISO('Europe/Berlin').toString();
    if (day >= today) return status(400, 'The date must lie in the past');
    sources.exportRequests.push(day);
    const answer = sources.exportAnswer?.(day);
    if (answer && 'status' in answer) return status(answer.status, 'A fault');
    if (answer) return stream(response, answer);
    const entries = sources.days.get(day) ?? [];
    response
      .writeHead(200, { 'content-type': 'application/zip' })
      .end(Buffer.isBuffer(entries) ? entries : zipOf(entries));
  }

  function feed(path: string, request: IncomingMessage, response: ServerResponse): void {
    sources.feedRequests.push({ path, headers: request.headers });
    const answer = sources.feeds.get(path);
    if (!answer) return json(response, 404, { message: 'Not found' });
    const { body = '', status = 200, headers = {}, etag, lastModified } = answer;
    const validators = {
      ...(etag !== undefined && { etag }),
      ...(lastModified !== undefined && { 'last-modified': lastModified }),
    };
    const isKnown =
      (etag !== undefined && request.headers['if-none-match'] === etag) ||
      (lastModified !== undefined && request.headers['if-modified-since'] === lastModified);
    if (isKnown) return void response.writeHead(304, validators).end();
    response.writeHead(status, { 'content-type': 'application/rss+xml', ...validators, ...headers }).end(body);
  }

  const server: HttpServer = await startHttpServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  }, port);
  const { origin } = server;
  const urls = {
    ted: `${origin}/v3/notices/search`,
    export: `${origin}/api/notice-exports`,
    bund: `${origin}/bund.xml`,
  };
  const sources: TenderSources = {
    origin,
    urls,
    env: { TENDER_TED_URL: urls.ted, TENDER_OEV_URL: urls.export, TENDER_BUND_RSS_URL: urls.bund },
    journal: { notices: [], faults: [], pageSize: 250, requests: [] },
    days: new Map(),
    exportAnswer: null,
    exportRequests: [],
    feeds: new Map(),
    feedRequests: [],
    latencyMs: 0,
    connections: () => server.connections(),
    stop: () => server.close(),
  };
  return sources;
}

function json(response: ServerResponse, status: number, body: unknown, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function stream(response: ServerResponse, chunks: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/zip' });
  // The client may close the connection early.
  await pipeline(Readable.from(chunks), response).catch(() => undefined);
}

/** Replaces lists of one value by the bare value. */
const bare = (notice: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(notice).map(([field, value]) => [
      field,
      Array.isArray(value) && value.length === 1 ? value[0] : value,
    ]),
  );
