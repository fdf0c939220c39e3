import { inArray, sql } from 'drizzle-orm';
import { tenders } from '@portal/db/schema/tenders/notices';
import { tenderTriage } from '@portal/db/schema/tenders/triage';
import { notFound } from '@portal/domain/errors';
import type { Triage, TriageInput } from '@portal/domain/tenders/tenders';
import type { UserContext } from '@portal/platform/context';
import { ownScope } from './list-tenders.ts';
import { holdMerges } from './merge-tenders.ts';

/** Marks tenders as read or as favorites for the account. Marks none of them and throws 404 if one does not exist. */
export function triageTenders(
  ctx: UserContext,
  ids: string[],
  { read, favorite }: TriageInput,
): Promise<({ id: string } & Triage)[]> {
  return ownScope(ctx).tx(async (tx) => {
    await holdMerges(tx);
    const asked = [...new Set(ids)];
    const known = await tx
      .select({ id: tenders.id, current: sql<string>`coalesce(${tenders.mergedInto}, ${tenders.id})` })
      .from(tenders)
      .where(inArray(tenders.id, asked));
    if (known.length < asked.length) throw notFound();
    const current = new Map(known.map((tender) => [tender.id, tender.current]));
    const marks = await tx
      .insert(tenderTriage)
      .values(
        // Sorted, so that two transactions cannot deadlock.
        [...new Set(current.values())].toSorted().map((tenderId) => ({
          tenantId: ctx.tenantId,
          userId: ctx.actor.id,
          tenderId,
          isRead: read ?? false,
          isFavorite: favorite ?? false,
        })),
      )
      .onConflictDoUpdate({
        target: [tenderTriage.tenantId, tenderTriage.userId, tenderTriage.tenderId],
        // A field that is left out does not change.
        set: {
          isRead: read === undefined ? sql`${tenderTriage.isRead}` : read,
          isFavorite: favorite === undefined ? sql`${tenderTriage.isFavorite}` : favorite,
        },
      })
      .returning({ id: tenderTriage.tenderId, read: tenderTriage.isRead, favorite: tenderTriage.isFavorite });
    const byId = new Map(marks.map((row) => [row.id, row]));
    return asked.flatMap((id) => {
      const row = byId.get(current.get(id) ?? '');
      return row ? [{ id, read: row.read, favorite: row.favorite }] : [];
    });
  });
}

/** Marks one tender. Throws 404. */
export async function triageTender(ctx: UserContext, id: string, input: TriageInput): Promise<Triage> {
  const [mark] = await triageTenders(ctx, [id], input);
  if (!mark) throw notFound();
  return mark;
}
