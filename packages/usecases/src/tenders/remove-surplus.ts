import { sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { isOfNamedSource, tenderNotices, tenders } from '@portal/db/schema/tenders/notices';
import { rssFeeds, tenderSources } from '@portal/db/schema/tenders/sources';
import { mailboxKey } from '@portal/domain/tenders/sources';
import type { Walked } from '@portal/platform/retention';
import { lockNoticeStore } from './store-notices.ts';

/** Notices kept per personal feed or mailbox; older ones are removed. */
const maxNotices = 5_000;
/** Sources checked by one statement. */
const sourcesAtOnce = 100;
/** Notices removed in one transaction. */
const batch = 1_000;

/**
 * Removes the oldest notices of personal sources beyond `max`, and all notices of sources that no account has any more. If no other
 * source listed the tender, the tender is deleted with its matches and triage; otherwise only the personal notice is. Public tenders stay.
 * A removed feed that is registered again is read like a new one. Works in batches: `after` is the last source of the batch before.
 */
export async function removeSurplusTenders(tx: Tx, after: string, max = maxNotices): Promise<Walked> {
  // Wait for notices being stored: another source may be adding a notice to one of these tenders.
  await lockNoticeStore(tx);
  const { rows: sources } = await tx.execute<{ key: string; kept: number }>(sql`
    select s.key, case when ${isRegistered} then ${max}::int else 0 end as kept from ${tenderSources} s
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
  // After a full batch these sources may have more to remove.
  return { removed: surplus.length, after: surplus.length === batch ? after : (sources.at(-1)?.key ?? null) };
}

/** Whether the source belongs to an account: a registered feed, or the mailbox of an account that exists. */
const isRegistered = sql`case when s.key like ${`${mailboxKey}:%`}
  then exists (select from ${users} u where u.id = substr(s.key, ${mailboxKey.length + 2})::uuid)
  else exists (select from ${rssFeeds} f where f.source_key = s.key) end`;
