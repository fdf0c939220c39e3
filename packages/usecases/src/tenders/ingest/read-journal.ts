import { setImmediate as turn } from 'node:timers/promises';
import { noticeTools } from '@portal/connectors/tenders/notice-tools';
import { tedPages } from '@portal/connectors/tenders/ted-search';
import { noticeOf, UnreadableNotice } from '@portal/domain/tenders/notice-draft';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import { dayInBerlin } from '@portal/domain/tenders/notice-times';
import { journalDays } from '@portal/domain/tenders/rhythm';
import { readTedNotice, type TedNotice } from '@portal/domain/tenders/ted-notice';
import { oneAhead } from './ahead.ts';
import type { SourceRead } from './source-read.ts';

/** Notices read in one turn of the event loop. */
const slice = 25;

/** Reads the search of the European journal, and answers the last day that is in it. */
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
    if (n > 0 && n % slice === 0) await turn();
    try {
      notices.push({
        ...noticeOf(readTedNotice(found), noticeTools),
        raw: { format: 'ted', body: JSON.stringify(found) },
      });
    } catch (error) {
      if (!(error instanceof UnreadableNotice)) throw error;
      const said = found['publication-number'];
      refused.push({ name: typeof said === 'string' ? said.slice(0, 40) : 'A notice', reason: error.message });
    }
  }
  return { notices, refused };
}
