import { and, asc, eq, gt, lt, or, type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { savedSearches } from '@portal/db/schema/tenders/saved-searches';
import { invalidField } from '@portal/domain/errors';
import { TenderFilters } from '@portal/domain/tenders/filters';
import { type CompiledSearch, compileFilters } from '@portal/domain/tenders/search-query';
import { termsOf } from '@portal/domain/tenders/search-terms';
import type { SystemContext } from '@portal/platform/context';
import { documentQuestion, type SearchBounds } from '../search.ts';

/** Raise it with every change of the compiled form: searches of an older version are then compiled again. */
const compilerVersion = 1;

/** The columns of a saved search, compiled from its filters by the same code that lists use. */
export function compiledColumns(filters: TenderFilters) {
  const search = compileFilters(filters);
  const terms = termsOf(filters);
  const questions = terms.map((term) => sql`coalesce(${documentQuestion(term.search)}::text, '')`);
  return {
    filters,
    question: questionOrNull(search),
    bounds: JSON.stringify(boundsOf(search)),
    termLabels: terms.map(({ label }) => label),
    termQuestions: sql<string[]>`array[${sql.join(questions, sql`, `)}]::text[]`,
    compilerVersion,
  };
}

const boundsOf = ({ all: _all, either: _either, ...bounds }: CompiledSearch): SearchBounds => bounds;

/** SQL null also if all words are too common to be searched. */
function questionOrNull(search: CompiledSearch): SQL<string | null> {
  const question = documentQuestion(search);
  return question === null
    ? sql`null::tsquery`
    : sql`(select case when numnode(asked.q) > 0 then asked.q end from (select ${question} as q) asked)`;
}

/** Throws 400 if none of the words can be searched, and for an instant alert on filters that match every tender. */
export async function checkFilters(tx: Tx, filters: TenderFilters, { instantAlert = false } = {}): Promise<void> {
  const { text } = filters;
  const typed = text ? [...text.all, ...text.any, ...text.phrases, ...text.none] : [];
  const words = compileFilters(TenderFilters.parse({ ...(text && { text }) }));
  const search = compileFilters(filters);
  const { rows } = await tx.execute<{ hasWords: boolean; hasQuestion: boolean }>(
    sql`select ${questionOrNull(words)} is not null as "hasWords", ${questionOrNull(search)} is not null as "hasQuestion"`,
  );
  if (typed.length > 0 && rows[0]?.hasWords !== true)
    throw invalidField('filters.text', 'contains no word that can be searched');
  if (instantAlert && rows[0]?.hasQuestion !== true && areOpen(search))
    throw invalidField('instantAlert', 'needs filters that are not empty');
}

/** Whether the bounds match every tender. */
const areOpen = ({ contains, deadline, sinceDays, value, sources }: SearchBounds): boolean =>
  contains === null &&
  (deadline === null || (deadline.minDays === null && deadline.maxDays === null && deadline.includeUnknown)) &&
  sinceDays === null &&
  (value === null || (value.minCents === null && value.maxCents === null && value.includeUnknown)) &&
  sources === null;

/** Searches compiled in one transaction. */
const batch = 200;

/** Searches that another release compiled, from an id on. Not by `<>`, which would read those of all tenants: both halves read the index. */
export const outdatedSearches = (tx: Tx, after: string) =>
  tx
    .select({ id: savedSearches.id, filters: savedSearches.filters })
    .from(savedSearches)
    .where(
      and(
        or(lt(savedSearches.compilerVersion, compilerVersion), gt(savedSearches.compilerVersion, compilerVersion)),
        gt(savedSearches.id, after),
      ),
    )
    .orderBy(asc(savedSearches.id))
    .limit(batch)
    .for('update');

/** Recompiles searches that another release compiled. */
export async function compileOutdated(system: SystemContext, signal: AbortSignal): Promise<void> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    signal.throwIfAborted();
    const last = await system.acrossTenants('saved searches are compiled again', async (tx) => {
      const found = await outdatedSearches(tx, after);
      for (const { id, filters } of found) {
        const read = TenderFilters.safeParse(filters);
        // A later release wrote filters that this one cannot read. The search keeps its compiled form.
        if (!read.success) continue;
        await tx.update(savedSearches).set(compiledColumns(read.data)).where(eq(savedSearches.id, id));
      }
      return found.at(-1)?.id;
    });
    if (last === undefined) return;
    after = last;
  }
}
