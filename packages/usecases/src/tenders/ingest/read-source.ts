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

/** Equal answers in a row that say a feed has moved, until it is asked at its new address. */
const movesToBelieve = 3;

/**
 * One look at a source, the only one of it at that time. How it went is written into its row, where people find it; a look that failed
 * fails its run in the same words.
 */
export async function readTenderSource(
  given: SystemContext,
  key: string,
  { run, signal, progress }: Work,
): Promise<void> {
  if (!run) throw new Error('A look at a source begins with a run.');
  const read = beginSourceRead(given, key, { run, signal, progress });
  const { isOver, ...source } = await startSourceRead(read, run.id);
  // Killed between the end of the look and the end of its run.
  if (isOver) return;
  if (source.lastSuccessAt === null) read.tellNobody();
  try {
    const changes = await readIt(read, source);
    const { wishMs = 0, ...kept } = changes;
    await note(
      read,
      {
        ...kept,
        failures: 0,
        isGone: false,
        error: read.complaint(),
        newCount: read.newCount(),
        nextRunAt: nextReadAt(key, given.now(), { wishMs, chance: Math.random() }),
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
    // A database that is away cannot take it down; the source is looked at again in an hour.
    await note(read, { failures, error: sentence, isGone, nextRunAt }).catch((noting: unknown) =>
      given.log.warn({ err: noting, source: key }, 'a failed look at a source could not be noted'),
    );
    throw error instanceof SourceFailure ? unavailable(sentence, error) : error;
  }
}

const sentenceFor = (error: unknown): string =>
  error instanceof SourceFailure || error instanceof PortalError
    ? error.message
    : 'Something went wrong while this source was read. The log names the cause.';

async function startSourceRead(
  { system, source: key }: SourceRead,
  runId: string,
): Promise<Source & { isOver: boolean }> {
  const [source] = await system.acrossTenants('a source is looked at', async (tx) => {
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
  // It went with the last who wanted it.
  if (!source) throw notFound();
  return source;
}

type Noted = { [K in keyof Changes]: Changes[K] | ReturnType<typeof sql> };

const note = (read: SourceRead, changes: Noted, besides?: (tx: Tx) => Promise<void>): Promise<void> =>
  read.system.acrossTenants('how a look at a source went is noted', async (tx) => {
    await besides?.(tx);
    await tx.update(tenderSources).set(changes).where(eq(tenderSources.key, read.source));
  });

async function readIt(read: SourceRead, source: Source): Promise<Changes & { wishMs?: number }> {
  const { config } = read.system;
  if (!isSettingsSource(source.key)) {
    if (source.url === null) throw notFound();
    const outcome = await readFeedSource(read, { url: source.url, policy: config.outbound.byUsers, known: source });
    const { movedTo, ...kept } = outcome;
    return { ...kept, ...(await moved(read, source, movedTo)) };
  }
  const url = config.tenderSources[source.key];
  if (url === null) throw unavailable('This source is turned off.');
  if (source.key === 'ted') return { watermark: await readJournal(read, url, source.watermark) };
  if (source.key === 'bund') {
    const { movedTo: _, ...kept } = await readFeedSource(read, {
      url,
      policy: config.outbound.byOperator,
      known: source,
    });
    return kept;
  }
  await readExport(read, url, {
    watermark: source.watermark,
    onDay: (day) => note(read, { watermark: sql`greatest(${tenderSources.watermark}, ${day}::date)` }),
  });
  return {};
}

/** Where a feed says again and again that it has moved for good, it is asked there from now on, unless that is another source already. */
async function moved(read: SourceRead, source: Source, movedTo: string | null): Promise<Changes> {
  const movedCount = movedTo === null ? 0 : movedTo === source.movedTo ? source.movedCount + 1 : 1;
  if (movedTo === null || movedCount < movesToBelieve) return { movedTo, movedCount };
  const taken = await read.system.acrossTenants('a feed has moved', (tx) =>
    tx.select({ key: tenderSources.key }).from(tenderSources).where(eq(tenderSources.url, movedTo)),
  );
  return { movedTo: null, movedCount: 0, ...(taken.length === 0 && { url: movedTo }) };
}
