import type { FileHandle } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { downloadExport, exportEntries } from '@portal/connectors/tenders/notice-export';
import { dayInBerlin } from '@portal/domain/tenders/notice-times';
import { exportDays } from '@portal/domain/tenders/rhythm';
import { SECOND } from '@portal/domain/time';
import { openScratchFile } from '@portal/platform/files/scratch-file';
import { oneAhead } from './ahead.ts';
import { type Document, parseDocumentsInSandbox, type ReadDocuments } from './parse-in-sandbox.ts';
import type { SourceRead } from './source-read.ts';

/** Documents parsed by one sandbox task. */
const portion = { documents: 100, bytes: 2 * 1024 * 1024 };
const longestPauseMs = 10 * SECOND;

/** Reads the national export day by day, the oldest first. A day counts as read once all of it is stored; otherwise it is read again. */
export async function readExport(
  read: SourceRead,
  url: string,
  { watermark, onDay }: { watermark: string | null; onDay: (day: string) => Promise<void> },
): Promise<void> {
  const { system, signal } = read;
  const days = exportDays(watermark, dayInBerlin(system.now().toISOString()));
  for (const [n, day] of days.entries()) {
    read.progress(n, days.length);
    await using file = await openScratchFile(system.config);
    const askedAt = performance.now();
    await downloadExport({ url, policy: system.config.outbound.byOperator, day, file, signal });
    // Pause as long as the download took: a slow server may be busy.
    const pauseMs = Math.min(performance.now() - askedAt, longestPauseMs);
    await readDay(read, day, file);
    await onDay(day);
    if (n < days.length - 1) await pause(pauseMs, undefined, { signal });
  }
  read.progress(days.length, days.length);
}

async function readDay(read: SourceRead, day: string, file: FileHandle): Promise<void> {
  const shownKeys = new Set<string>();
  let isComplete = true;
  // A pipeline: while one portion is stored, the next is parsed and the one after it is unpacked.
  for await (const { notices, refused } of oneAhead(readingsOf(read, day, oneAhead(portionsOf(file))))) {
    read.signal.throwIfAborted();
    for (const { noticeKey } of notices) shownKeys.add(noticeKey);
    read.refuse(refused);
    isComplete &&= refused.length === 0;
    await read.store(notices);
  }
  // A document that could not be read may be the one that seems to be missing.
  if (isComplete) await read.findMissing(day, [...shownKeys]);
}

interface Portion {
  documents: Document[];
  refused: ReadDocuments['refused'];
}

async function* readingsOf(
  { system, source }: SourceRead,
  day: string,
  portions: AsyncGenerator<Portion, void>,
): AsyncGenerator<ReadDocuments, void> {
  for await (const { documents, refused } of portions) {
    const read = await parseDocumentsInSandbox(system, { sourcePortal: source, day, documents });
    read.refused.unshift(...refused);
    yield read;
  }
}

async function* portionsOf(file: FileHandle): AsyncGenerator<Portion, void> {
  let gathered: Portion = { documents: [], refused: [] };
  let bytes = 0;
  for await (const entry of exportEntries(file)) {
    const { documents, refused } = gathered;
    if ('refusal' in entry) {
      refused.push({ name: entry.name, reason: entry.refusal });
    } else {
      documents.push(entry);
      bytes += entry.bytes.length;
    }
    if (documents.length === portion.documents || refused.length === portion.documents || bytes >= portion.bytes) {
      yield gathered;
      gathered = { documents: [], refused: [] };
      bytes = 0;
    }
  }
  if (gathered.documents.length > 0 || gathered.refused.length > 0) yield gathered;
}
