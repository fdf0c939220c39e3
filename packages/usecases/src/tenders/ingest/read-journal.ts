import { setImmediate as yieldOnce } from 'node:timers/promises';
import { noticeTools } from '@portal/connectors/tenders/notice-tools';
import { tedPages } from '@portal/connectors/tenders/ted-search';
import { noticeOf, UnreadableNotice } from '@portal/domain/tenders/notice-draft';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import { dayInBerlin } from '@portal/domain/tenders/notice-times';
import { journalDays } from '@portal/domain/tenders/rhythm';
import { readTedNotice, type TedNotice } from '@portal/domain/tenders/ted-notice';
import { oneAhead } from './ahead.ts';
import type { SourceRead } from './source-read.ts';

/** Notices parsed in one turn of the event loop. */
const slice = 25;

/** Reads the search of the European journal (TED). Returns the last day it covers. */
export async function readJournal(read: SourceRead, url: string, watermark: string | null): Promise<string> {
  const { system, signal } = read;
  const { from, to } = journalDays(watermark, dayInBerlin(system.now().toISOString()));
  let received = 0;
  for await (const page of oneAhead(tedPages({ url, policy: system.config.outbound.byOperator, from, to, signal }))) {
    signal.throwIfAborted();
    const { notices, refused } = await readPage(page);
    read.refuse(refused);
    await read.store(notices);
    received += page.length;
    read.progress(received, received);
  }
  return to;
}

async function readPage(page: TedNotice[]) {
  const notices: NoticeRecord[] = [];
  const refused: { name: string; reason: string }[] = [];
  for (const [n, found] of page.entries()) {
    if (n > 0 && n % slice === 0) await yieldOnce();
    try {
      notices.push({
        ...noticeOf(readTedNotice(found), noticeTools),
        raw: { format: 'ted', body: JSON.stringify(found) },
      });
    } catch (error) {
      if (!(error instanceof UnreadableNotice)) throw error;
      const number = found['publication-number'];
      refused.push({ name: typeof number === 'string' ? number.slice(0, 40) : 'A notice', reason: error.message });
    }
  }
  return { notices, refused };
}
