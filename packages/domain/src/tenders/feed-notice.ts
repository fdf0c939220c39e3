import { deadlinesIn, labelledValue, placeIn } from './labelled-text.ts';
import { emptyDraft, identity, type NoticeDraft, UnreadableNotice, webAddress } from './notice-draft.ts';
import { feedInstant } from './notice-times.ts';
import { bundIdIn, noticeUuidIn, publicationNumberIn } from './portal-ids.ts';

/** An entry of a feed in any format, with its values as written. */
export interface FeedItem {
  /** `guid` of RSS, `id` of Atom. */
  id: string | null;
  title: string | null;
  link: string | null;
  publishedAt: string | null;
  /** Usually HTML. */
  text: string | null;
}

export interface FeedOrigin {
  sourcePortal: string;
  /** Base of relative links. */
  base: string;
}

interface FeedTools {
  /** The visible text of HTML or plain text, with its line breaks. */
  textOf(markup: string): string;
  hash(text: string): string;
}

/** Reads an entry of a registered feed. Throws an UnreadableNotice. */
export function readFeedItem(item: FeedItem, { sourcePortal, base }: FeedOrigin, tools: FeedTools): NoticeDraft {
  const url = item.link === null ? null : cleanLink(item.link, base);
  const key = item.id?.trim() || url;
  if (!key && !item.title?.trim()) throw new UnreadableNotice('has neither id, link nor title.');
  return {
    ...emptyDraft,
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

/** Reads an entry of the feed of service.bund.de, which has buyer, place and deadline in its text. Throws an UnreadableNotice. */
export function readBundItem(item: FeedItem, { sourcePortal, base }: FeedOrigin, tools: FeedTools): NoticeDraft {
  const url = item.link === null ? null : cleanLink(item.link, base);
  const bundId = url === null ? null : bundIdIn(url);
  const key = bundId ?? item.id?.trim() ?? url;
  if (!key) throw new UnreadableNotice('has neither a link nor an id.');
  const text = item.text === null ? '' : tools.textOf(item.text);
  const place = labelledValue(text, 'Erfüllungsort|Ausführungsort|Ort');
  return {
    ...emptyDraft,
    sourcePortal,
    ...identity(shortened(key, tools)),
    sourceUrl: url,
    bundId,
    form: 'competition',
    title: item.title,
    buyerName: labelledValue(text, 'Vergabestelle|Auftraggeber'),
    places: place === null ? [] : [placeIn(place)],
    publishedAt: feedInstant(item.publishedAt),
    deadlines: deadlinesIn(text),
  };
}

/** Ids of feed entries have any length. A long id is hashed: a truncated id could equal that of another entry. */
const shortened = (key: string, { hash }: FeedTools): string => (key.length <= 200 ? key : hash(key));

/** A normalized link: absolute, without fragment and tracking parameters. */
function cleanLink(link: string, base: string): string | null {
  const url = URL.parse(link.trim(), base);
  if (!url) return null;
  url.hash = '';
  const trackers = url.searchParams.keys().filter((name) => /^utm_/i.test(name));
  for (const name of trackers.toArray()) url.searchParams.delete(name);
  return webAddress(url.href);
}
