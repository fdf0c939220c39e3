import { inArray, sql } from 'drizzle-orm';
import { tenders } from '@portal/db/schema/tenders/notices';
import { tenderTriage } from '@portal/db/schema/tenders/triage';
import { notFound } from '@portal/domain/errors';
import type { Triage, TriageInput } from '@portal/domain/tenders/tenders';
import type { UserContext } from '@portal/platform/context';
import { ownScope } from './list-tenders.ts';
import { holdMerges } from './merge-tenders.ts';

/** Notes of tenders that the account has read them or keeps an eye on them; all of them, or none if one is unknown (404). */
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
    const noted = await tx
      .insert(tenderTriage)
      .values(
        // In one order, so that two who note the same at once do not wait for each other.
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
        // What is not named stays as it is.
        set: {
          isRead: read === undefined ? sql`${tenderTriage.isRead}` : read,
          isFavorite: favorite === undefined ? sql`${tenderTriage.isFavorite}` : favorite,
        },
      })
      .returning({ id: tenderTriage.tenderId, read: tenderTriage.isRead, favorite: tenderTriage.isFavorite });
    const byId = new Map(noted.map((row) => [row.id, row]));
    return asked.flatMap((id) => {
      const row = byId.get(current.get(id) ?? '');
      return row ? [{ id, read: row.read, favorite: row.favorite }] : [];
    });
  });
}

/** The same of one. */
export async function triageTender(ctx: UserContext, id: string, input: TriageInput): Promise<Triage> {
  const [noted] = await triageTenders(ctx, [id], input);
  if (!noted) throw notFound();
  return noted;
}
