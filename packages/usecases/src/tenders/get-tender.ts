import { and, eq, sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { tenderNotices, tenders } from '@portal/db/schema/tenders/notices';
import { personalTenderSearch, tenderSearch } from '@portal/db/schema/tenders/search';
import { tenderTriage } from '@portal/db/schema/tenders/triage';
import { notFound } from '@portal/domain/errors';
import type { NoticeDeadline } from '@portal/domain/tenders/notice-record';
import { shownSource } from '@portal/domain/tenders/sources';
import type { TenderDetail } from '@portal/domain/tenders/tenders';
import type { UserContext } from '@portal/platform/context';
import { ownScope, ownTriage, shownColumns, toTender } from './list-tenders.ts';

/** A tender with all details. The id of a merged tender returns the tender it was merged into. Throws 404. */
export async function getTender(ctx: UserContext, id: string): Promise<TenderDetail> {
  const [row] = await ownScope(ctx).run(tenderById, { id, userId: ctx.actor.id });
  if (!row) throw notFound();
  const { description, lots, documentsUrl, deadlines, alsoAt, deadlineAt, deadlineIsDateOnly, ...shown } = row;
  return {
    ...toTender(shown, deadlineAt, deadlineIsDateOnly),
    description,
    documentsUrl,
    // `storeNotices` wrote them with this type.
    lots: lots as TenderDetail['lots'],
    deadlines: (deadlines as NoticeDeadline[]).map((deadline) => ({ ...deadline, at: new Date(deadline.at) })),
    alsoAt: alsoAt.map((notice) => ({
      ...notice,
      sourcePortal: shownSource(notice.sourcePortal),
      publishedAt: new Date(notice.publishedAt),
    })),
  };
}

interface OtherNotice {
  sourcePortal: string;
  sourceNoticeId: string;
  sourceUrl: string | null;
  publishedAt: string;
}

const tenderById = prepared<{ id: string; userId: string }>()('tender_by_id', (db) => {
  const deadlineAt = sql`nullif(coalesce(${tenderSearch.deadlineAt}, ${personalTenderSearch.deadlineAt}), 'infinity')`;
  return db
    .select({
      ...shownColumns,
      deadlineAt: sql<Date | null>`${deadlineAt}`.mapWith(tenderSearch.publishedAt).as('deadline_at'),
      deadlineIsDateOnly:
        sql<boolean>`coalesce(${tenderSearch.deadlineIsDateOnly}, ${personalTenderSearch.deadlineIsDateOnly}, false)`.as(
          'deadline_is_date_only',
        ),
      description: tenderNotices.description,
      lots: tenderNotices.lots,
      documentsUrl: tenderNotices.documentsUrl,
      deadlines: tenderNotices.deadlines,
      // The latest notice of each other source.
      alsoAt: sql<OtherNotice[]>`(
        select coalesce(json_agg(json_build_object('sourcePortal', other.source_key, 'sourceNoticeId', other.source_notice_id,
          'sourceUrl', other.source_url, 'publishedAt', other.published_at) order by other.source_key), '[]')
        from (
          select distinct on (n.source_key) n.* from ${tenderNotices} n
          where n.tender_id = ${tenderNotices.tenderId} and n.source_key <> ${tenderNotices.sourceKey}
          order by n.source_key, n.published_at desc, n.id desc) other)`.as('also_at'),
    })
    .from(tenders)
    .innerJoin(
      tenderNotices,
      and(
        eq(tenderNotices.tenderId, sql`coalesce(${tenders.mergedInto}, ${tenders.id})`),
        sql`${tenderNotices.isPrimary}`,
      ),
    )
    .leftJoin(tenderTriage, ownTriage())
    .leftJoin(tenderSearch, eq(tenderSearch.tenderId, tenderNotices.tenderId))
    .leftJoin(personalTenderSearch, eq(personalTenderSearch.tenderId, tenderNotices.tenderId))
    .where(eq(tenders.id, sql.placeholder('id')));
});
