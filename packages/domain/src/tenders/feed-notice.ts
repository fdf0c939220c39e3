import { identity, type NoticeDraft, nothingKnown, UnreadableNotice, webAddress } from './notice-draft.ts';
import { feedInstant } from './notice-times.ts';
import { bundIdIn, noticeUuidIn, publicationNumberIn } from './portal-ids.ts';
import { deadlinesIn, placeIn, saidIn } from './said.ts';

/** An entry of a feed in any of the formats, as it stands there. */
export interface FeedItem {
  /** `guid` of RSS, `id` of Atom. */
  id: string | null;
  title: string | null;
  link: string | null;
  publishedAt: string | null;
  /** HTML, mostly. */
  text: string | null;
}

export interface FeedOrigin {
  sourcePortal: string;
  /** What links are relative to. */
  base: string;
}

interface FeedTools {
  /** The text of something that may be HTML, a line for each of its lines. */
  textOf(markup: string): string;
  hash(text: string): string;
}

/** Reads an entry of a feed people registered. Throws an UnreadableNotice. */
export function readFeedItem(item: FeedItem, { sourcePortal, base }: FeedOrigin, tools: FeedTools): NoticeDraft {
  const url = item.link === null ? null : cleanLink(item.link, base);
  const key = item.id?.trim() || url;
  if (!key && !item.title?.trim()) throw new UnreadableNotice('has neither id, link nor title.');
  return {
    ...nothingKnown,
    sourcePortal,
    ...identity(shortened(key || tools.hash(`${item.title}\n${item.publishedAt}`), tools)),
    sourceUrl: url,
    publicationNumber: url === null ? null : publicationNumberIn(url),
    noticeUuid: url === null ? null : noticeUuidIn(url),
    bundId: url === null ? null : bundIdIn(url),
    title: item.title ?? item.text,
    description: item.text,
    publishedAt: feedInstant(item.publishedAt),
    deadlines: deadlinesIn(item.text === null ? '' : tools.textOf(item.text)),
    links: url === null ? [] : [url],
  };
}

/** Reads an entry of the federal feed, which tells buyer, place and deadline in its text. Throws an UnreadableNotice. */
export function readBundItem(item: FeedItem, { sourcePortal, base }: FeedOrigin, tools: FeedTools): NoticeDraft {
  const url = item.link === null ? null : cleanLink(item.link, base);
  const bundId = url === null ? null : bundIdIn(url);
  const key = bundId ?? item.id?.trim() ?? url;
  if (!key) throw new UnreadableNotice('has neither a link nor an id.');
  const text = item.text === null ? '' : tools.textOf(item.text);
  const place = saidIn(text, 'Erfüllungsort|Ausführungsort|Ort');
  return {
    ...nothingKnown,
    sourcePortal,
    ...identity(shortened(key, tools)),
    sourceUrl: url,
    bundId,
    form: 'competition',
    title: item.title,
    buyerName: saidIn(text, 'Vergabestelle|Auftraggeber'),
    places: place === null ? [] : [placeIn(place)],
    publishedAt: feedInstant(item.publishedAt),
    deadlines: deadlinesIn(text),
  };
}

/** Ids of feeds are of any length; a long one counts by its hash, so that none is cut to that of another. */
const shortened = (key: string, { hash }: FeedTools): string => (key.length <= 200 ? key : hash(key));

/** A link as it is opened and compared: absolute, without fragment and without what only tells where a reader came from. */
function cleanLink(link: string, base: string): string | null {
  const url = URL.parse(link.trim(), base);
  if (!url) return null;
  url.hash = '';
  const trackers = url.searchParams.keys().filter((name) => /^utm_/i.test(name));
  for (const name of trackers.toArray()) url.searchParams.delete(name);
  return webAddress(url.href);
}
