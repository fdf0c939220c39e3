import { noticeTools } from '@portal/connectors/tenders/notice-tools';
import { readAlertMailOf } from '@portal/connectors/tenders/read-alert-mail';
import { readFeed } from '@portal/connectors/tenders/read-feed';
import { readXml } from '@portal/connectors/tenders/read-xml';
import { type AlertMail, readAlertMail } from '@portal/domain/tenders/alert-mail';
import { readEforms } from '@portal/domain/tenders/eforms';
import { readBundItem, readFeedItem } from '@portal/domain/tenders/feed-notice';
import { noticeOf, type ReadNotice, UnreadableNotice } from '@portal/domain/tenders/notice-draft';

/** What to read: entries of an archive, a feed, or an alert mail. */
export type ReadingOrder =
  | { kind: 'eforms'; sourcePortal: string; day: string; documents: { name: string; bytes: Uint8Array }[] }
  | { kind: 'feed'; sourcePortal: string; url: string; charset: string | null; bytes: Uint8Array }
  | { kind: 'mail'; sourcePortal: string; bytes: Uint8Array };

export interface Reading {
  /** In the order of what was given, each with what it was read from: the place of a document, the entry of a feed, what a mail says of it. */
  notices: { notice: ReadNotice; from: number | string }[];
  refused: { name: string; reason: string }[];
  /** How long a feed wants to be kept. */
  ttlMin: number | null;
}

/** A task for a process of its own: foreign bytes in, notices out. */
export async function run(order: ReadingOrder): Promise<Reading> {
  if (order.kind === 'mail') return readMail(order);
  return order.kind === 'eforms' ? readDocuments(order) : readEntries(order);
}

function readDocuments({ sourcePortal, day, documents }: ReadingOrder & { kind: 'eforms' }): Reading {
  const reading: Reading = { notices: [], refused: [], ttlMin: null };
  for (const [from, { name, bytes }] of documents.entries()) {
    attempt(reading, name, () => {
      const notice = noticeOf(readEforms(readXml(bytes), { sourcePortal, day }), noticeTools);
      reading.notices.push({ notice, from });
    });
  }
  return reading;
}

function readEntries({ sourcePortal, url, charset, bytes }: ReadingOrder & { kind: 'feed' }): Reading {
  const reading: Reading = { notices: [], refused: [], ttlMin: null };
  attempt(reading, 'The feed', () => {
    const feed = readFeed(bytes, charset);
    reading.ttlMin = feed.ttlMin;
    if (feed.isCut) reading.refused.push({ name: 'The feed', reason: 'has more entries than are read of it.' });
    const read = sourcePortal === 'bund' ? readBundItem : readFeedItem;
    const base = URL.parse(feed.base ?? '', url)?.href ?? url;
    for (const [n, item] of feed.items.entries()) {
      attempt(reading, `Entry ${n + 1}`, () => {
        const notice = noticeOf(read(item, { sourcePortal, base }, noticeTools), noticeTools);
        reading.notices.push({ notice, from: JSON.stringify(item) });
      });
    }
  });
  return reading;
}

async function readMail({ sourcePortal, bytes }: ReadingOrder & { kind: 'mail' }): Promise<Reading> {
  const reading: Reading = { notices: [], refused: [], ttlMin: null };
  let mail: AlertMail | undefined;
  try {
    mail = await readAlertMailOf(bytes);
  } catch (error) {
    attempt(reading, 'The mail', () => {
      throw error;
    });
  }
  for (const draft of mail ? readAlertMail(mail, sourcePortal) : []) {
    attempt(reading, draft.noticeKey, () => {
      // Of the mail nothing is kept but what the notice says anyway.
      const { title, buyerName, sourceUrl, deadlines } = draft;
      const from = JSON.stringify({ title, buyerName, sourceUrl, deadlines });
      reading.notices.push({ notice: noticeOf(draft, noticeTools), from });
    });
  }
  return reading;
}

/** What cannot be read costs itself and nothing else. */
function attempt(reading: Reading, name: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof UnreadableNotice)) throw error;
    reading.refused.push({ name, reason: error.message });
  }
}
