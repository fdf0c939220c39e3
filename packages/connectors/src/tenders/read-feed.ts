import { parseFeed } from 'feedsmith';
import type { FeedItem } from '@portal/domain/tenders/feed-notice';
import { UnreadableNotice } from '@portal/domain/tenders/notice-draft';
import { checkedXml } from './read-xml.ts';
import { textOfXml } from './text-of-xml.ts';

export interface ReadFeed {
  items: FeedItem[];
  /** Base of relative links, if the feed names one. */
  base: string | null;
  /** Minutes for which the feed asks not to be fetched again. */
  ttlMin: number | null;
  /** Whether the feed has more entries than `maxItems`. */
  isCut: boolean;
}

const maxItems = 1_000;

// Keep dates as written; `feedInstant` interprets them.
const parse = (text: string) => parseFeed(text, { maxItems: maxItems + 1, parseDateFn: (raw) => raw });
type Parsed = ReturnType<typeof parse>;

/** The entries of a feed in RSS, Atom or RDF. Throws an UnreadableNotice for any other document. */
export function readFeed(bytes: Uint8Array, charset: string | null): ReadFeed {
  const text = checkedXml(textOfXml(bytes, charset));
  let parsed: Parsed;
  try {
    parsed = parse(text);
  } catch {
    throw new UnreadableNotice('is not a feed in RSS, Atom or RDF format.');
  }
  const { items, base, ttl } = entriesOf(parsed);
  return {
    items: items.slice(0, maxItems),
    base: base ?? null,
    ttlMin: ttl !== undefined && ttl > 0 ? Math.min(ttl, 24 * 60) : null,
    isCut: items.length > maxItems,
  };
}

function entriesOf(parsed: Parsed): {
  items: FeedItem[];
  base?: string | undefined;
  ttl?: number | undefined;
} {
  if (parsed.format === 'rss') {
    const items = (parsed.feed.items ?? []).map((item) => ({
      id: item.guid?.value ?? null,
      title: item.title ?? null,
      link: item.link ?? (item.guid?.isPermaLink === true ? item.guid.value : null) ?? null,
      publishedAt: item.pubDate ?? item.dc?.dates?.[0] ?? null,
      text: item.description ?? item.content?.encoded ?? null,
    }));
    return { items, base: parsed.feed.link, ttl: parsed.feed.ttl };
  }
  if (parsed.format === 'atom') {
    const items = (parsed.feed.entries ?? []).map((entry) => ({
      id: entry.id ?? null,
      title: entry.title?.value ?? null,
      link:
        (entry.links?.find(({ rel }) => rel === undefined || rel === 'alternate') ?? entry.links?.[0])?.href ?? null,
      publishedAt: entry.published ?? entry.updated ?? null,
      text: entry.summary?.value ?? entry.content?.value ?? null,
    }));
    return { items, base: parsed.feed.xml?.base };
  }
  if (parsed.format === 'rdf') {
    const items = (parsed.feed.items ?? []).map((item) => ({
      id: item.rdf?.about ?? null,
      title: item.title ?? null,
      link: item.link ?? null,
      publishedAt: item.dc?.dates?.[0] ?? null,
      text: item.description ?? item.content?.encoded ?? null,
    }));
    return { items };
  }
  throw new UnreadableNotice('is not a feed in RSS, Atom or RDF format.');
}
