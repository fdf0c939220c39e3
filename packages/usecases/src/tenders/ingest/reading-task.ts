import { noticeTools } from '@portal/connectors/tenders/notice-tools';
import { readAlertMailOf } from '@portal/connectors/tenders/read-alert-mail';
import { readFeed } from '@portal/connectors/tenders/read-feed';
import { readXml } from '@portal/connectors/tenders/read-xml';
import { type AlertMail, readAlertMail } from '@portal/domain/tenders/alert-mail';
import { readEforms } from '@portal/domain/tenders/eforms';
import { readBundItem, readFeedItem } from '@portal/domain/tenders/feed-notice';
import { noticeOf, type ReadNotice, UnreadableNotice } from '@portal/domain/tenders/notice-draft';

/** The input of the task: documents of an archive, a feed, or an alert mail. */
export type ReadingOrder =
  | { kind: 'eforms'; sourcePortal: string; day: string; documents: { name: string; bytes: Uint8Array }[] }
  | { kind: 'feed'; sourcePortal: string; url: string; charset: string | null; bytes: Uint8Array }
  | { kind: 'mail'; sourcePortal: string; bytes: Uint8Array };

export interface Reading {
  /** In input order, each with its origin: the index of a document, the entry of a feed as JSON, or the facts of a mail as JSON. */
  notices: { notice: ReadNotice; from: number | string }[];
  refused: { name: string; reason: string }[];
  /** Minutes for which a feed asks not to be fetched again. */
  ttlMin: number | null;
}

/** Runs in the sandbox: takes untrusted bytes, returns notices. */
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
    if (feed.isCut) reading.refused.push({ name: 'The feed', reason: 'has more entries than the portal reads.' });
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
      // Only facts that are in the notice anyway are stored of a mail.
      const { title, buyerName, sourceUrl, deadlines } = draft;
      const from = JSON.stringify({ title, buyerName, sourceUrl, deadlines });
      reading.notices.push({ notice: noticeOf(draft, noticeTools), from });
    });
  }
  return reading;
}

/** Refuses a document, entry or mail that cannot be read, and goes on with the next. */
function attempt(reading: Reading, name: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof UnreadableNotice)) throw error;
    reading.refused.push({ name, reason: error.message });
  }
}
