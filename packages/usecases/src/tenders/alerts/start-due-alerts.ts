import { sql } from 'drizzle-orm';
import { advisoryLocks } from '@portal/db/advisory-locks';
import type { Tx } from '@portal/db/open';
import { mails } from '@portal/db/schema/platform/mails';
import { tenderChangeNotices, tenderMatches } from '@portal/db/schema/tenders/matches';
import { savedSearches, tenderPreferences } from '@portal/db/schema/tenders/saved-searches';
import { newId } from '@portal/domain/ids';
import { lastDigestTime } from '@portal/domain/tenders/digest-times';
import type { SystemContext } from '@portal/platform/context';
import { nudgeMails, queueMails } from '@portal/platform/outbox/queue-mail';
import { processEach } from '@portal/platform/process-each';
import { digestKey, digestMail } from './mails/digest.ts';
import { instantMail } from './mails/instant.ts';
import { dismissStale, isPending, stateColumnsOf } from './match-state.ts';

/** Accounts whose mails are queued in one transaction. */
const batch = 200;
/**
 * Time an instant match waits for others to share its mail. Together with the schedule, which runs each minute, it stays well within the
 * five minutes that the API documents.
 */
const gatherSec = 120;

/**
 * Queues the alert mails that are due, each with its list of matches and change notices. One transaction sets `alert_id` of the list and
 * queues the mail, so neither exists without the other. An error in one kind of mail does not stop the others.
 */
export async function startDueTenderAlerts(system: SystemContext, signal: AbortSignal): Promise<void> {
  const dismiss = async () => {
    do signal.throwIfAborted();
    while ((await withAlertLock(system, 'stale tender matches are dismissed', dismissStale)) > 0);
  };
  const queue = async (why: string, work: (tx: Tx) => Promise<string[]>) => {
    for (;;) {
      signal.throwIfAborted();
      const tenantIds = await withAlertLock(system, why, work);
      for (const tenantId of new Set(tenantIds)) await nudgeMails(system, tenantId);
      if (tenantIds.length < batch) return;
    }
  };
  const work = {
    dismiss,
    instant: () => queue('instant tender alerts are queued', queueInstantMails),
    daily: () => queue('tender digests are queued', (tx) => queueDigests(tx, 'daily')),
    weekly: () => queue('tender digests are queued', (tx) => queueDigests(tx, 'weekly')),
  };
  await processEach(Object.entries(work), ([, start]) => start(), {
    signal,
    onFailure: ([what], error) => system.log.error({ what, err: error }, 'due tender alerts could not be queued'),
  });
}

const withAlertLock = <T>(system: SystemContext, why: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
  system.acrossTenants(why, async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${advisoryLocks.tenderAlerts})`);
    return work(tx);
  });

const isPendingRow = isPending(stateColumnsOf('m'));

interface Account extends Record<string, unknown> {
  tenantId: string;
  userId: string;
}

/**
 * Queues one mail per search that has new matches; a tender that several searches of an account found is listed under the first of them.
 * Returns the tenant of each account.
 */
async function queueInstantMails(tx: Tx): Promise<string[]> {
  const { rows: due } = await tx.execute<Account>(sql`
    select distinct s.tenant_id as "tenantId", s.user_id as "userId"
    from ${tenderMatches} m join ${savedSearches} s on s.id = m.search_id
    where m.kind = 'instant' and ${isPendingRow} and m.matched_at <= now() - make_interval(secs => ${gatherSec})
    limit ${batch}`);
  if (due.length === 0) return [];
  const userIds = due.map(({ userId }) => userId);
  const { rows: alerts } = await tx.execute<Account & { alertId: string }>(sql`
    with pending as materialized (
      select m.search_id, m.tender_id, s.tenant_id, s.user_id, first_value(s.id) over (
        partition by s.user_id, m.tender_id order by lower(s.name), s.id) as first_id
      from ${savedSearches} s join ${tenderMatches} m on m.search_id = s.id
      where s.user_id = any(${sql.param(userIds)}::uuid[]) and m.kind = 'instant' and ${isPendingRow}),
    alerts as materialized (
      select gen_random_uuid() as id, one.* from (select distinct tenant_id, user_id, first_id from pending) one),
    claimed as (
      update ${tenderMatches} m set alert_id = alerts.id from pending join alerts using (user_id, first_id)
      where m.search_id = pending.search_id and m.tender_id = pending.tender_id)
    select id as "alertId", tenant_id as "tenantId", user_id as "userId" from alerts`);
  await queueMails(
    tx,
    instantMail,
    alerts.map(({ alertId, tenantId, userId }) => ({
      tenantId,
      key: `tenders/instant/${alertId}`,
      userId,
      data: { alertId },
    })),
  );
  return due.map(({ tenantId }) => tenantId);
}

/** Queues one digest per account that has new matches or changes, at most one per digest time. Returns the tenant of each account. */
async function queueDigests(tx: Tx, rhythm: 'daily' | 'weekly'): Promise<string[]> {
  const { rows: clock } = await tx.execute<{ ms: string }>(sql`select extract(epoch from now()) * 1000 as ms`);
  const { day, at } = lastDigestTime(rhythm, new Date(Number(clock[0]?.ms)));
  const until = sql`${at.toISOString()}::timestamptz`;
  // Reduce to accounts before reading preferences: an account has many pending matches.
  const { rows: due } = await tx.execute<Account>(sql`
    with pending as materialized (
      select s.tenant_id, s.user_id from ${tenderMatches} m join ${savedSearches} s on s.id = m.search_id
      where m.kind = 'digest' and ${isPendingRow} and m.matched_at < ${until}
      union
      select m.tenant_id, m.user_id from ${tenderChangeNotices} m where ${isPendingRow} and m.noticed_at < ${until})
    select tenant_id as "tenantId", user_id as "userId" from pending
    where coalesce((select p.digest from ${tenderPreferences} p where p.tenant_id = pending.tenant_id and p.user_id = pending.user_id),
        'daily') = ${rhythm}
      and not exists (
        select from ${mails} x where x.tenant_id = pending.tenant_id and x.key = ${digestKey(day, '')} || pending.user_id)
    limit ${batch}`);
  if (due.length === 0) return [];
  const alerts = due.map((account) => ({ ...account, alertId: newId() }));
  const alertIds = sql`unnest(${sql.param(alerts.map(({ userId }) => userId))}::uuid[],
    ${sql.param(alerts.map(({ alertId }) => alertId))}::uuid[]) alert (user_id, id)`;
  await tx.execute(sql`
    update ${tenderMatches} m set alert_id = alert.id from ${alertIds} join ${savedSearches} s on s.user_id = alert.user_id
    where m.search_id = s.id and m.kind = 'digest' and ${isPendingRow} and m.matched_at < ${until}`);
  await tx.execute(sql`
    update ${tenderChangeNotices} m set alert_id = alert.id from ${alertIds}
    where m.user_id = alert.user_id and ${isPendingRow} and m.noticed_at < ${until}`);
  await queueMails(
    tx,
    digestMail,
    alerts.map(({ alertId, tenantId, userId }) => ({
      tenantId,
      key: digestKey(day, userId),
      userId,
      data: { alertId, rhythm },
    })),
  );
  return due.map(({ tenantId }) => tenantId);
}
