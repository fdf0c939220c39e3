import { eq, getTableColumns, sql } from 'drizzle-orm';
import { SourceFailure } from '@portal/connectors/tenders/source-failure';
import type { Tx } from '@portal/db/open';
import { runs } from '@portal/db/schema/platform/operations';
import { tenderSources } from '@portal/db/schema/tenders/sources';
import { notFound, PortalError, unavailable } from '@portal/domain/errors';
import { nextLook, nextTry } from '@portal/domain/tenders/rhythm';
import { isSettingsSource } from '@portal/domain/tenders/sources';
import type { SystemContext } from '@portal/platform/context';
import type { Work } from '@portal/platform/jobs/handler';
import { beginLook, type Look, TakenOverError } from './look.ts';
import { readExport } from './read-export.ts';
import { readFeedSource } from './read-feed.ts';
import { readJournal } from './read-journal.ts';

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
  const look = beginLook(given, key, { run, signal, progress });
  const { isOver, ...source } = await startLook(look, run.id);
  // Killed between the end of the look and the end of its run.
  if (isOver) return;
  if (source.lastSuccessAt === null) look.tellNobody();
  try {
    const changes = await readIt(look, source);
    const { wishMs = 0, ...kept } = changes;
    await note(
      look,
      {
        ...kept,
        failures: 0,
        isGone: false,
        error: look.complaint(),
        newCount: look.newCount(),
        nextRunAt: nextLook(key, given.now(), { wishMs, chance: Math.random() }),
        lastSuccessAt: sql`now()`,
      },
      look.countMissing,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TakenOverError) throw error;
    const failures = source.failures + 1;
    const [isGone, retryAfterMs] = error instanceof SourceFailure ? [error.isGone, error.retryAfterMs] : [false, null];
    const sentence = sentenceFor(error);
    const nextRunAt = nextTry(key, given.now(), { failures, retryAfterMs });
    // A database that is away cannot take it down; the source is looked at again in an hour.
    await note(look, { failures, error: sentence, isGone, nextRunAt }).catch((noting: unknown) =>
      given.log.warn({ err: noting, source: key }, 'a failed look at a source could not be noted'),
    );
    throw error instanceof SourceFailure ? unavailable(sentence, error) : error;
  }
}

const sentenceFor = (error: unknown): string =>
  error instanceof SourceFailure || error instanceof PortalError
    ? error.message
    : 'Something went wrong while this source was read. The log names the cause.';

async function startLook({ system, source: key }: Look, runId: string): Promise<Source & { isOver: boolean }> {
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

const note = (look: Look, changes: Noted, besides?: (tx: Tx) => Promise<void>): Promise<void> =>
  look.system.acrossTenants('how a look at a source went is noted', async (tx) => {
    await besides?.(tx);
    await tx.update(tenderSources).set(changes).where(eq(tenderSources.key, look.source));
  });

async function readIt(look: Look, source: Source): Promise<Changes & { wishMs?: number }> {
  const { config } = look.system;
  if (!isSettingsSource(source.key)) {
    if (source.url === null) throw notFound();
    const outcome = await readFeedSource(look, { url: source.url, policy: config.outbound.byUsers, known: source });
    const { movedTo, ...kept } = outcome;
    return { ...kept, ...(await moved(look, source, movedTo)) };
  }
  const url = config.tenderSources[source.key];
  if (url === null) throw unavailable('This source is turned off.');
  if (source.key === 'ted') return { watermark: await readJournal(look, url, source.watermark) };
  if (source.key === 'bund') {
    const { movedTo: _, ...kept } = await readFeedSource(look, {
      url,
      policy: config.outbound.byOperator,
      known: source,
    });
    return kept;
  }
  await readExport(look, url, {
    watermark: source.watermark,
    onDay: (day) => note(look, { watermark: sql`greatest(${tenderSources.watermark}, ${day}::date)` }),
  });
  return {};
}

/** Where a feed says again and again that it has moved for good, it is asked there from now on, unless that is another source already. */
async function moved(look: Look, source: Source, movedTo: string | null): Promise<Changes> {
  const movedCount = movedTo === null ? 0 : movedTo === source.movedTo ? source.movedCount + 1 : 1;
  if (movedTo === null || movedCount < movesToBelieve) return { movedTo, movedCount };
  const taken = await look.system.acrossTenants('a feed has moved', (tx) =>
    tx.select({ key: tenderSources.key }).from(tenderSources).where(eq(tenderSources.url, movedTo)),
  );
  return { movedTo: null, movedCount: 0, ...(taken.length === 0 && { url: movedTo }) };
}
