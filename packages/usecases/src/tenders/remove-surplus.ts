import { sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { isOfNamedSource, tenderNotices, tenders } from '@portal/db/schema/tenders/notices';
import { rssFeeds, tenderSources } from '@portal/db/schema/tenders/sources';
import { mailboxKey } from '@portal/domain/tenders/sources';
import type { Walked } from '@portal/platform/retention';
import { lockNoticeStore } from './store-notices.ts';

/** Notices kept of each feed or mailbox of people's own: the newest. */
const maxNotices = 5_000;
/** Sources whose notices are counted at once. */
const sourcesAtOnce = 100;
/** Notices removed in one transaction. */
const batch = 1_000;

/**
 * Removes what the next personal sources have brought beyond the newest, and all of those that nobody has registered any more: a tender
 * that no other source has shown goes with its matches and triage, of any other the personal notice. What everybody saw once stays.
 * A feed is read as if for the first time when somebody registers it again.
 */
export async function removeSurplusTenders(tx: Tx, after: string, most = maxNotices): Promise<Walked> {
  // A tender that another source confirms at the moment stays.
  await lockNoticeStore(tx);
  const { rows: sources } = await tx.execute<{ key: string; kept: number }>(sql`
    select s.key, case when ${isRegistered} then ${most}::int else 0 end as kept from ${tenderSources} s
    where s.key > ${after} and s.key like '%:%'
      and not exists (select from ${rssFeeds} f where f.source_key = s.key and f.user_id is null)
    order by s.key limit ${sourcesAtOnce}`);
  const orphans = sources.filter(({ kept }) => kept === 0).map(({ key }) => key);
  const { rows: surplus } = await tx.execute<{ id: string; tenderId: string; isAlone: boolean }>(sql`
    select old.id, old.tender_id as "tenderId", old.only_source is not null as "isAlone"
    from json_to_recordset(${JSON.stringify(sources)}::json) s (key text, kept int)
    cross join lateral (
      select n.id, n.tender_id, t.only_source from ${tenderNotices} n join ${tenders} t on t.id = n.tender_id
      where n.source_key = s.key and ${isOfNamedSource} and not n.is_public and (t.only_source is not null or not n.is_primary)
      order by n.first_seen_at desc, n.id desc offset s.kept) old
    where (select count(*) from ${tenderNotices} c where c.source_key = s.key and ${isOfNamedSource}) > s.kept
    limit ${batch}`);
  const tenderIds = surplus.filter(({ isAlone }) => isAlone).map(({ tenderId }) => tenderId);
  const noticeIds = surplus.filter(({ isAlone }) => !isAlone).map(({ id }) => id);
  if (tenderIds.length > 0)
    await tx.execute(sql`delete from ${tenders} where id = any(${sql.param(tenderIds)}::uuid[])`);
  if (noticeIds.length > 0)
    await tx.execute(sql`delete from ${tenderNotices} where id = any(${sql.param(noticeIds)}::uuid[])`);
  if (orphans.length > 0)
    await tx.execute(sql`
      update ${tenderSources} set etag = null, last_modified = null, body_hash = null, last_success_at = null
      where key = any(${sql.param(orphans)}::text[]) and body_hash is not null
        and not exists (select from ${rssFeeds} f where f.source_key = ${tenderSources.key})`);
  // A whole batch: there may be more of these sources.
  return { removed: surplus.length, after: surplus.length === batch ? after : (sources.at(-1)?.key ?? null) };
}

/** Whether an account has the source: a feed it has registered, or the mailbox of one that is still there. */
const isRegistered = sql`case when s.key like ${`${mailboxKey}:%`}
  then exists (select from ${users} u where u.id = substr(s.key, ${mailboxKey.length + 2})::uuid)
  else exists (select from ${rssFeeds} f where f.source_key = s.key) end`;
