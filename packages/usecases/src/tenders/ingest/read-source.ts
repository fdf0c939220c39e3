import { eq, getTableColumns, sql } from 'drizzle-orm';
import { SourceFailure } from '@portal/connectors/tenders/source-failure';
import type { Tx } from '@portal/db/open';
import { runs } from '@portal/db/schema/platform/operations';
import { tenderSources } from '@portal/db/schema/tenders/sources';
import { notFound, PortalError, unavailable } from '@portal/domain/errors';
import { nextReadAt, nextTry } from '@portal/domain/tenders/rhythm';
import { isSettingsSource } from '@portal/domain/tenders/sources';
import type { SystemContext } from '@portal/platform/context';
import type { Work } from '@portal/platform/jobs/handler';
import { readExport } from './read-export.ts';
import { readFeedSource } from './read-feed.ts';
import { readJournal } from './read-journal.ts';
import { beginSourceRead, type SourceRead, TakenOverError } from './source-read.ts';

type Source = typeof tenderSources.$inferSelect;
type Changes = Partial<Omit<Source, 'key'>>;

/** Equal permanent redirects in a row before the new address of a feed is stored. */
const movesToBelieve = 3;

/**
 * Reads a source once; no other read of it runs at the same time. Stores the outcome in its row. A failed read fails its run with that
 * text. An interrupted read starts again instead of continuing: no position needs to be stored, and unchanged notices are not written, so
 * starting again costs only the reading.
 */
export async function readTenderSource(
  given: SystemContext,
  { source: key, tenantId }: { source: string; tenantId: string | null },
  { run, signal, progress }: Work,
): Promise<void> {
  if (!run) throw new Error('A read of a source needs a run.');
  const read = beginSourceRead(given, { source: key, tenantId }, { run, signal, progress });
  const { isOver, ...source } = await startSourceRead(read, run.id);
  // The worker died between the end of the read and the end of its run.
  if (isOver) return;
  if (source.lastSuccessAt === null) read.suppressAlerts();
  try {
    const changes = await readIt(read, source);
    const { ttlMs = 0, ...columns } = changes;
    await updateSource(
      read,
      {
        ...columns,
        failures: 0,
        isGone: false,
        error: read.complaint(),
        newCount: read.newCount(),
        nextRunAt: nextReadAt(key, given.now(), { ttlMs, chance: Math.random() }),
        lastSuccessAt: sql`now()`,
      },
      read.countMissing,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TakenOverError) throw error;
    const failures = source.failures + 1;
    const [isGone, retryAfterMs] = error instanceof SourceFailure ? [error.isGone, error.retryAfterMs] : [false, null];
    const sentence = sentenceFor(error);
    const nextRunAt = nextTry(key, given.now(), { failures, retryAfterMs });
    // If the database cannot store the failure, the source is read again in an hour.
    await updateSource(read, { failures, error: sentence, isGone, nextRunAt }).catch((storeError: unknown) =>
      given.log.warn({ err: storeError, source: key }, 'the failure of a read could not be stored'),
    );
    throw error instanceof SourceFailure ? unavailable(sentence, error) : error;
  }
}

const sentenceFor = (error: unknown): string =>
  error instanceof SourceFailure || error instanceof PortalError
    ? error.message
    : 'Something went wrong while this source was read. The log shows the cause.';

async function startSourceRead(
  { system, source: key }: SourceRead,
  runId: string,
): Promise<Source & { isOver: boolean }> {
  const [source] = await system.acrossTenants('a source is read', async (tx) => {
    if (isSettingsSource(key)) await tx.insert(tenderSources).values({ key }).onConflictDoNothing();
    return tx
      .update(tenderSources)
      .set({ lastRunAt: sql`now()` })
      .where(eq(tenderSources.key, key))
      .returning({
        ...getTableColumns(tenderSources),
        isOver: sql<boolean>`coalesce(${tenderSources.lastSuccessAt} >= (select ${runs.startedAt} from ${runs} where ${runs.id} = ${runId}), false)`,
      });
  });
  // The last account that had registered it removed it.
  if (!source) throw notFound();
  return source;
}

type SourceColumns = { [K in keyof Changes]: Changes[K] | ReturnType<typeof sql> };

const updateSource = (read: SourceRead, changes: SourceColumns, alsoDo?: (tx: Tx) => Promise<void>): Promise<void> =>
  read.system.acrossTenants('the outcome of a read of a source is stored', async (tx) => {
    await alsoDo?.(tx);
    await tx.update(tenderSources).set(changes).where(eq(tenderSources.key, read.source));
  });

async function readIt(read: SourceRead, source: Source): Promise<Changes & { ttlMs?: number }> {
  const { config } = read.system;
  if (!isSettingsSource(source.key)) {
    if (source.url === null) throw notFound();
    const outcome = await readFeedSource(read, { url: source.url, policy: config.outbound.byUsers, known: source });
    const { movedTo, ...columns } = outcome;
    return { ...columns, ...(await moved(read, source, movedTo)) };
  }
  const url = config.tenderSources[source.key];
  if (url === null) throw unavailable('This source is turned off.');
  if (source.key === 'ted') return { watermark: await readJournal(read, url, source.watermark) };
  if (source.key === 'bund') {
    const { movedTo: _, ...columns } = await readFeedSource(read, {
      url,
      policy: config.outbound.byOperator,
      known: source,
    });
    return columns;
  }
  await readExport(read, url, {
    watermark: source.watermark,
    onDay: (day) => updateSource(read, { watermark: sql`greatest(${tenderSources.watermark}, ${day}::date)` }),
  });
  return {};
}

/** Stores the new address of a feed that has redirected there permanently several times, unless another source has that address. */
async function moved(read: SourceRead, source: Source, movedTo: string | null): Promise<Changes> {
  const movedCount = movedTo === null ? 0 : movedTo === source.movedTo ? source.movedCount + 1 : 1;
  if (movedTo === null || movedCount < movesToBelieve) return { movedTo, movedCount };
  const taken = await read.system.acrossTenants('a feed has moved', (tx) =>
    tx.select({ key: tenderSources.key }).from(tenderSources).where(eq(tenderSources.url, movedTo)),
  );
  return { movedTo: null, movedCount: 0, ...(taken.length === 0 && { url: movedTo }) };
}
