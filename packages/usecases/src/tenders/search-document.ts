import { readFileSync } from 'node:fs';
import { markersOf } from '@portal/domain/tenders/markers';
import type { NoticeLot, NoticeRecord } from '@portal/domain/tenders/notice-record';
import { fold, partsOfWords } from '@portal/domain/tenders/words';

/** The fields of a notice that are searched. */
export type SearchedNotice = Parameters<typeof markersOf>[0] &
  Pick<NoticeRecord, 'title' | 'description' | 'buyerName' | 'cpvCodes'> & {
    lots: Pick<NoticeLot, 'title' | 'description'>[];
  };

/** Characters of all lots that are searched: PostgreSQL limits a tsvector to 1 MB, and all spellings have to fit. */
const maxLotText = 40_000;

/** The texts of a notice by search weight, each with umlauts as written and spelled out, and its markers. */
export function searchDocumentOf(notice: SearchedNotice) {
  const lots = notice.lots
    .flatMap(({ title, description }) => [title, description])
    .filter((text) => text !== null)
    .join('\n')
    .slice(0, maxLotText);
  const labels = notice.cpvCodes.map((code) => cpvLabels().get(code) ?? '').join('\n');
  const a = inBothSpellings(notice.title);
  const b = inBothSpellings(`${lots}\n${labels}`);
  const d = inBothSpellings(notice.description ?? '');
  return {
    titles: fold([notice.title, ...notice.lots.map(({ title }) => title ?? '')].join('\n')).slice(0, maxLotText),
    text_a: a,
    text_b: b,
    text_c: inBothSpellings(notice.buyerName ?? ''),
    text_d: d,
    parts: partsOfWords(`${a}\n${b}\n${d}`).join(' '),
    markers: markersOf(notice),
  };
}

const inBothSpellings = (text: string): string => (/[äöüß]/i.test(text) ? `${text}\n${fold(text)}` : text);

let labels: Map<string, string> | undefined;

/** The German label of each CPV code. */
function cpvLabels(): Map<string, string> {
  labels ??= new Map(
    readFileSync(new URL('cpv-labels.txt', import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => /^\d{8} /.test(line))
      .map((line) => [line.slice(0, 8), line.slice(9)]),
  );
  return labels;
}
