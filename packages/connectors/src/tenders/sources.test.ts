import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { bundItem, madeUpNotice, rssFeed, tedJson } from '@portal/testing/made-up-notices';
import {
  exportEntry,
  type FeedAnswer,
  type JournalFault,
  startTenderSources,
} from '@portal/testing/servers/tender-sources';
import { zipOf } from '@portal/testing/zip';
import { fetchFeed } from './fetch-feed.ts';
import { downloadExport, type ExportEntry, exportBounds, exportEntries } from './notice-export.ts';
import { readFeed } from './read-feed.ts';
import { SourceFailure } from './source-failure.ts';
import { tedPages } from './ted-search.ts';

const sources = await startTenderSources();
const folder = await mkdtemp(join(tmpdir(), 'portal-tender-sources-'));
afterAll(async () => {
  await sources.stop();
  await rm(folder, { recursive: true });
});
afterEach(() => {
  sources.journal = { notices: [], faults: [], pageSize: 250, requests: [] };
  sources.exportAnswer = null;
  sources.days.clear();
  sources.feeds.clear();
  sources.feedRequests.length = 0;
});

const policy = { reach: 'private' as const, allowHosts: [] };
const { signal } = new AbortController();

describe('the European search', () => {
  const search = { url: sources.urls.ted, policy, from: '2026-11-16', to: '2026-11-19', signal, pauseMs: 0 };
  const publish = (count: number) => {
    sources.journal.notices = Array.from({ length: count }, (_, n) =>
      tedJson(madeUpNotice(n, { publicationNumber: `${n + 1}-2026` })),
    );
  };
  async function numbers(faults: JournalFault[] = []): Promise<string[]> {
    sources.journal.faults = [...faults];
    const pages = await Array.fromAsync(tedPages(search));
    return pages.flat().map((notice) => String(notice['publication-number']));
  }
  const first = (count: number) => Array.from({ length: count }, (_, n) => `${n + 1}-2026`);

  it('returns every page and all versions, even if the last page has a token', async () => {
    publish(612);
    expect(await numbers()).toEqual(first(612));
    const { requests } = sources.journal;
    expect(requests).toHaveLength(3);
    for (const request of requests)
      expect(request).toMatchObject({
        onlyLatestVersions: false,
        scope: 'ALL',
        paginationMode: 'ITERATION',
        limit: 250,
      });
    expect(requests[0]?.query).toBe(
      '(buyer-country = DEU OR place-of-performance = DEU) AND publication-date >= 20261116 AND publication-date <= 20261119 SORT BY publication-number ASC',
    );
    expect(requests[0]?.fields.length).toBeLessThanOrEqual(40);
  });

  it('returns more notices than numbered pages allow', async () => {
    publish(15_300);
    expect(new Set(await numbers()).size).toBe(15_300);
  });

  it('returns nothing if there are no notices', async () => expect(await numbers()).toEqual([]));

  it.each<[JournalFault, string]>([
    ['timed-out', 'an incomplete list'],
    ['server-error', 'a server error'],
    ['busy', 'too many requests'],
    ['no-json', 'an HTML page instead of JSON'],
  ])('is requested again after %s: %s', async (fault) => {
    publish(300);
    expect(await numbers([fault, fault])).toEqual(first(300));
  });

  it('fails after four attempts', async () => {
    publish(10);
    await expect(numbers(['timed-out', 'timed-out', 'timed-out', 'timed-out'])).rejects.toThrow(
      'timed out and sent only part',
    );
    expect(sources.journal.requests).toHaveLength(4);
  });

  it.each<JournalFault>(['lost-token', 'lost-token-500'])('starts again, once, after %s', async (fault) => {
    publish(600);
    const read: string[] = [];
    for await (const page of tedPages(search)) {
      // The first page succeeds; for the second, the snapshot of the index is gone.
      if (read.length === 0) sources.journal.faults.push(fault);
      read.push(...page.map((notice) => String(notice['publication-number'])));
    }
    expect(read).toEqual(first(600));
  });

  it('returns a notice once, even if pages overlap', async () => {
    publish(510);
    const found: unknown[] = [];
    for await (const page of tedPages(search)) {
      if (found.length === 0) sources.journal.faults.push('overlap');
      found.push(...page);
    }
    expect(new Set(found.map((notice) => JSON.stringify(notice))).size).toBe(found.length);
  });

  it('fails at once if a retry would not help', async () => {
    publish(10);
    await expect(numbers(['syntax'])).rejects.toThrow('rejected the query (QUERY_SYNTAX_ERROR).');
    expect(sources.journal.requests).toHaveLength(1);
  });

  it('fails if it returns days that were not requested', async () => {
    publish(10);
    await expect(numbers(['other-day'])).rejects.toThrow('1999-01-01');
  });
});

describe('the national export', () => {
  let files = 0;
  const withFile = async <T>(work: (file: FileHandle) => Promise<T>): Promise<T> => {
    await using file = await open(join(folder, `${(files += 1)}.zip`), 'wx+');
    return await work(file);
  };
  const download = (day = '2026-11-19') =>
    withFile(async (file) => {
      await downloadExport({ url: sources.urls.export, policy, day, file, signal });
      return Array.fromAsync(exportEntries(file));
    });
  const entriesOf = (zip: Buffer, bounds?: { entries: number }): Promise<ExportEntry[]> =>
    withFile(async (file) => {
      await file.writeFile(zip);
      return Array.fromAsync(exportEntries(file, bounds));
    });
  const summaryOf = (entries: ExportEntry[]) =>
    entries.map((entry) => ('refusal' in entry ? `${entry.name} ${entry.refusal}` : entry.name));

  it('returns an archive without entries for a day without notices', async () => {
    expect(await download()).toEqual([]);
  });

  it('returns the versions of a notice in ascending order, even if the archive has another order', async () => {
    const [one, other] = [madeUpNotice(1), madeUpNotice(2, { id: '4711' })];
    sources.days.set('2026-11-19', [
      exportEntry({ ...one, version: 10 }),
      exportEntry({ ...other, version: 2 }),
      exportEntry({ ...one, version: 2 }),
      exportEntry(other),
      exportEntry(one),
    ]);
    const names = summaryOf(await download());
    expect(names.filter((name) => name.startsWith('4711'))).toEqual(['4711-1.xml', '4711-2.xml']);
    expect(names.filter((name) => name.startsWith(one.id))).toEqual(
      ['01', '02', '10'].map((version) => `${one.id}-${version}.xml`),
    );
  });

  it.each([
    [404, 'found nothing at this address (404).'],
    [410, 'no longer exists (410).'],
    [500, 'reported an error (500).'],
    [429, 'received too many requests (429).'],
    [302, 'sent an unexpected answer (302).'],
  ])('fails if the server answers %i: %s', async (status, sentence) => {
    sources.exportAnswer = () => ({ status });
    await expect(download()).rejects.toThrow(sentence);
  });

  it('aborts an endless download', { timeout: 60_000 }, async () => {
    const chunk = Buffer.alloc(1024 * 1024);
    let sent = 0;
    sources.exportAnswer = () => ({
      *[Symbol.iterator]() {
        for (; sent < 1_024; sent += 1) yield chunk;
      },
    });
    await expect(download()).rejects.toBeInstanceOf(SourceFailure);
    expect(sent).toBeLessThan(exportBounds.downloadBytes / chunk.length + 200);
  });

  it.each([
    ['is not an archive', Buffer.from('<html>'), 'damaged'],
    ['is empty', Buffer.alloc(0), 'empty'],
    ['is truncated', zipOf([exportEntry(madeUpNotice(1))]).subarray(0, 900), 'damaged'],
  ])('that %s fails', async (_, zip, sentence) => {
    await expect(entriesOf(zip)).rejects.toThrow(sentence);
  });

  it('refuses entries that exceed a limit, names them, and goes on', async () => {
    const good = exportEntry(madeUpNotice(1));
    const large = Buffer.alloc(6 * 1024 * 1024, 0x20);
    const spoiled = exportEntry(madeUpNotice(2));
    const lying = exportEntry(madeUpNotice(3));
    const bomb = exportEntry(madeUpNotice(4));
    const locked = exportEntry(madeUpNotice(5));
    const zip = zipOf([
      { name: '../../etc/cron.d/evil.xml', bytes: good.bytes },
      { name: '/etc/passwd', bytes: good.bytes },
      { name: `folder/${good.name}`, bytes: good.bytes },
      { name: 'liesmich.txt', bytes: Buffer.from('x') },
      { ...spoiled, says: { crc: 1 } },
      { ...lying, says: { size: 10 } },
      { ...bomb, bytes: large },
      { ...locked, says: { flags: 1 } },
      good,
    ]);
    const entries = summaryOf(await entriesOf(zip));
    expect(entries.filter((entry) => entry === good.name)).toHaveLength(1);
    expect(entries).toContain('../../etc/cron.d/evil.xml does not have the name of a notice.');
    expect(entries).toContain(`${spoiled.name} has a wrong checksum.`);
    expect(entries).toContain(`${lying.name} cannot be unpacked.`);
    expect(entries).toContain(`${bomb.name} is larger than 5 MB.`);
    expect(entries).toContain(`${locked.name} is encrypted.`);
    expect(entries).toHaveLength(9);
  });

  it('is read up to its limit if it has too many entries', async () => {
    const bytes = Buffer.from('x');
    const zip = zipOf(Array.from({ length: 57 }, (_, n) => ({ name: `${n + 1}-1.xml`, bytes })));
    const entries = summaryOf(await entriesOf(zip, { entries: 50 }));
    expect(entries).toHaveLength(51);
    expect(entries).toContain('the archive has 7 entries more than the portal reads.');
    expect(exportBounds.entries).toBe(20_000);
  });

  it('is read up to 2 GB if it has more', async () => {
    const bytes = Buffer.from('x');
    // The declared size of an entry counts, even if it is wrong.
    const size = exportBounds.entryBytes;
    const zip = zipOf(Array.from({ length: 412 }, (_, n) => ({ name: `${n + 1}-1.xml`, bytes, says: { size } })));
    const entries = summaryOf(await entriesOf(zip));
    expect(entries.filter((entry) => entry.endsWith('cannot be unpacked.'))).toHaveLength(409);
    const beyond = 'exceeds the 2 GB that the portal reads of an archive.';
    expect(entries.filter((entry) => entry.endsWith(beyond))).toHaveLength(3);
  });
});

describe('a feed', () => {
  const get = (path: string, known: { etag?: string; lastModified?: string } = {}) =>
    fetchFeed({
      url: `${sources.origin}${path}`,
      policy,
      etag: known.etag ?? null,
      lastModified: known.lastModified ?? null,
      signal,
    });
  const show = (path: string, answer: FeedAnswer) => sources.feeds.set(path, answer);

  it.each(['"strong"', 'W/"weak"', '"with,comma"'])('keeps the tag %s byte for byte', async (etag) => {
    show('/f', { body: rssFeed([]), etag });
    expect(await get('/f')).toMatchObject({ etag, body: expect.any(Buffer) });
    expect(await get('/f', { etag })).toMatchObject({ etag, body: null });
    expect(sources.feedRequests.at(-1)?.headers['if-none-match']).toBe(etag);
  });

  it('keeps the `last-modified` date byte for byte', async () => {
    const lastModified = 'Thu, 19 Nov 2026 06:10:00 GMT';
    show('/f', { body: rssFeed([]), lastModified });
    expect(await get('/f')).toMatchObject({ lastModified, etag: null });
    expect(await get('/f', { lastModified })).toMatchObject({ lastModified, body: null });
  });

  it('returns its `max-age`', async () => {
    show('/f', { body: rssFeed([]), headers: { 'cache-control': 'public, max-age=7200' } });
    expect((await get('/f')).maxAgeMs).toBe(7_200_000);
  });

  it.each([
    [301, true],
    [308, true],
    [302, false],
    [307, false],
  ])('has moved permanently after a redirect with %i: %s', async (status, isPermanent) => {
    show('/old', { status, headers: { location: '/new' } });
    show('/new', { body: rssFeed([]) });
    expect(await get('/old')).toMatchObject({
      url: `${sources.origin}/new`,
      movedTo: isPermanent ? `${sources.origin}/new` : null,
    });
  });

  it.each([
    ['redirects in circles', { status: 302, headers: { location: '/f' } }, 'redirected too often'],
    ['redirects without an address', { status: 302 }, 'sent a redirect without a valid address'],
    ['redirects to a file', { status: 302, headers: { location: 'file:///etc/passwd' } }, 'not at an address'],
    ['no longer exists', { status: 410 }, 'no longer exists (410)'],
    ['has had too many requests', { status: 429, headers: { 'retry-after': '3600' } }, 'received too many requests'],
    ['has 20 MB', { body: Buffer.alloc(20 * 1024 * 1024, 0x20) }, 'larger answer than the portal accepts'],
  ] as [string, FeedAnswer, string][])('that %s fails', async (_, answer, sentence) => {
    show('/f', answer);
    const failure = await get('/f').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SourceFailure);
    expect(String(failure)).toContain(sentence);
    if (answer.status === 429) expect(failure).toMatchObject({ retryAfterMs: 3_600_000 });
    if (answer.status === 410) expect(failure).toMatchObject({ isGone: true });
  });

  it('is read in RSS, Atom and RDF', () => {
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://b.example/x/"><title>t</title><entry><id>urn:e1</id><title type="html">T &lt;i&gt;a&lt;/i&gt;</title><link rel="self" href="self"/><link rel="alternate" href="e1.html"/><updated>2026-11-19T06:10:00Z</updated><summary>S</summary></entry></feed>`;
    const rdf = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="u"><title>t</title></channel><item rdf:about="https://r.example/1"><title>R</title><link>https://r.example/1</link><dc:date>2026-11-19</dc:date></item></rdf:RDF>`;
    const rss = rssFeed([bundItem(madeUpNotice(1, { id: '25601234' }))]);
    const read = (xml: string) => readFeed(Buffer.from(xml), null);
    expect(read(rss)).toMatchObject({
      ttlMin: 60,
      items: [{ id: '25601234', publishedAt: 'Thu, 19 Nov 2026 06:10:00 +0100' }],
    });
    expect(read(atom)).toMatchObject({
      base: 'https://b.example/x/',
      items: [{ id: 'urn:e1', link: 'e1.html', text: 'S' }],
    });
    expect(read(rdf)).toMatchObject({ items: [{ id: 'https://r.example/1', title: 'R', publishedAt: '2026-11-19' }] });
  });

  it('is decoded by its own or the server’s charset', () => {
    const item = '<item><title>Gebäudereinigung für Schüler</title></item>';
    const title = (bytes: Buffer, charset: string | null) => readFeed(bytes, charset).items[0]?.title;
    const declared = rssFeed([item]).replace('UTF-8', 'ISO-8859-1');
    expect(title(iconv.encode(declared, 'latin1'), null)).toBe('Gebäudereinigung für Schüler');
    expect(title(iconv.encode(rssFeed([item]), 'latin1'), 'iso-8859-1')).toBe('Gebäudereinigung für Schüler');
    expect(title(iconv.encode(rssFeed([item]), 'utf-16le', { addBOM: true }), null)).toBe(
      'Gebäudereinigung für Schüler',
    );
    expect(title(Buffer.from(rssFeed([item])), 'no-such-charset')).toBe('Gebäudereinigung für Schüler');
  });

  it.each([
    [
      'billion laughs',
      `<!DOCTYPE x [<!ENTITY a "${'lol'.repeat(10)}">]><rss version="2.0"><channel><title>&a;</title></channel></rss>`,
      'DOCTYPE',
    ],
    ['a page', '<html><body>Wartung</body></html>', 'not a feed'],
    ['empty', '', 'not a feed'],
    ['elements without end', rssFeed(['<item><title>x</title></item>'.repeat(100_000)]), 'too many elements'],
  ])('is refused if it is %s', (_, body, reason) => {
    expect(() => readFeed(Buffer.from(body), null)).toThrow(reason);
  });

  it('is truncated if it has too many entries, and reports that', () => {
    const items = Array.from({ length: 1_500 }, (_, n) => `<item><title>${n}</title></item>`);
    const { items: read, isCut } = readFeed(Buffer.from(rssFeed(items)), null);
    expect([read.length, isCut]).toEqual([1_000, true]);
  });
});
