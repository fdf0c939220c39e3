import { textOfXml } from '@portal/connectors/tenders/text-of-xml';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import { isSettingsSource } from '@portal/domain/tenders/sources';
import { SECOND } from '@portal/domain/time';
import type { SystemContext, TenantContext } from '@portal/platform/context';
import { TaskError, taskOf } from '@portal/platform/sandbox/task';
import type { Reading, ReadingOrder, run } from './reading-task.ts';
import type { SourceRead } from './source-read.ts';

const reading = taskOf<typeof run>(new URL('reading-task.ts', import.meta.url), {
  timeoutMs: 20 * SECOND,
  maxMemoryMb: 400,
  maxOutputBytes: 64 * 1024 * 1024,
});

export interface Document {
  name: string;
  bytes: Uint8Array;
}

export interface ReadDocuments {
  notices: NoticeRecord[];
  refused: Reading['refused'];
}

/** Parses documents in the sandbox. If a document exceeds its limits, that document is refused and the others are parsed without it. */
export async function parseDocumentsInSandbox(
  system: SystemContext,
  order: { sourcePortal: string; day: string; documents: Document[] },
): Promise<ReadDocuments> {
  const { documents } = order;
  try {
    const { notices, refused } = await system.sandbox.run(
      reading,
      { kind: 'eforms', ...order },
      { tenantId: null, ownerId: order.sourcePortal },
    );
    return {
      notices: notices.map(({ notice, from }) => {
        const bytes = documents[Number(from)]?.bytes ?? new Uint8Array();
        return { ...notice, raw: { format: 'eforms', body: textOfXml(bytes) } };
      }),
      refused,
    };
  } catch (error) {
    if (!isInputFault(error)) throw error;
    const [first] = documents;
    if (documents.length <= 1) return { notices: [], refused: first ? [{ name: first.name, reason: tooMuch }] : [] };
    const middle = documents.length >> 1;
    const halves = [documents.slice(0, middle), documents.slice(middle)];
    const read: ReadDocuments = { notices: [], refused: [] };
    for (const half of halves) {
      const part = await parseDocumentsInSandbox(system, { ...order, documents: half });
      read.notices.push(...part.notices);
      read.refused.push(...part.refused);
    }
    return read;
  }
}

export interface ReadFeed extends ReadDocuments {
  ttlMin: number | null;
}

/** Parses a feed in the sandbox, within the share of its tenant. */
export async function parseFeedInSandbox(
  { system, source, tenantId }: Pick<SourceRead, 'system' | 'source' | 'tenantId'>,
  order: Omit<ReadingOrder & { kind: 'feed' }, 'kind'>,
): Promise<ReadFeed> {
  try {
    const { notices, refused, ttlMin } = await system.sandbox.run(
      reading,
      { kind: 'feed', ...order },
      // Administrators of every tenant register platform feeds, so these have one common share.
      { tenantId, ownerId: tenantId === null && !isSettingsSource(source) ? 'platform feeds' : source },
    );
    const records = notices.map(({ notice, from }): NoticeRecord => ({
      ...notice,
      raw: { format: 'feed', body: String(from) },
    }));
    return { notices: records, refused, ttlMin };
  } catch (error) {
    if (!isInputFault(error)) throw error;
    return { notices: [], refused: [{ name: 'The feed', reason: tooMuch }], ttlMin: null };
  }
}

/** Parses an alert mail in the sandbox. Throws a TaskError if the mail exceeds its limits. */
export async function parseMailInSandbox(
  ctx: TenantContext,
  { timeoutMs, ...order }: Omit<ReadingOrder & { kind: 'mail' }, 'kind'> & { timeoutMs: number },
): Promise<ReadDocuments> {
  const task = { ...reading, limits: { ...reading.limits, timeoutMs } };
  const { notices, refused } = await ctx.sandbox.run(
    task,
    { kind: 'mail', ...order },
    { tenantId: ctx.tenantId, ownerId: order.sourcePortal },
  );
  return {
    notices: notices.map(({ notice, from }) => ({ ...notice, raw: { format: 'mail', body: String(from) } })),
    refused,
  };
}

const tooMuch = 'takes too much time or memory to read.';
const isInputFault = (error: unknown): boolean => error instanceof TaskError && error.fault === 'input';
