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
import { dismissStale } from './match-state.ts';

/** Accounts whose mails are promised in one transaction. */
const batch = 200;
/** A match waits so long for others to be told with; with the minute of the schedule that stays well within the five promised. */
const gatherSec = 120;

/**
 * Promises the mails whose time has come, with the list each tells: from then on these matches are that mail’s alone. A list is taken
 * and its mail promised in one transaction, so that neither is without the other. What fails of one kind keeps back no other.
 */
export async function startDueTenderAlerts(system: SystemContext, signal: AbortSignal): Promise<void> {
  const forget = async () => {
    do signal.throwIfAborted();
    while ((await withAlertLock(system, 'what of tenders is owed to nobody is forgotten', dismissStale)) > 0);
  };
  const promise = async (why: string, work: (tx: Tx) => Promise<string[]>) => {
    for (;;) {
      signal.throwIfAborted();
      const tenantIds = await withAlertLock(system, why, work);
      for (const tenantId of new Set(tenantIds)) await nudgeMails(system, tenantId);
      if (tenantIds.length < batch) return;
    }
  };
  const work = {
    forget,
    instant: () => promise('instant mails of tenders are promised', queueInstantMails),
    daily: () => promise('digests of tenders are promised', (tx) => queueDigests(tx, 'daily')),
    weekly: () => promise('digests of tenders are promised', (tx) => queueDigests(tx, 'weekly')),
  };
  await processEach(Object.entries(work), ([, begin]) => begin(), {
    signal,
    onFailure: ([what], error) =>
      system.log.error({ what, err: error }, 'what is due of tenders could not be promised'),
  });
}

const withAlertLock = <T>(system: SystemContext, why: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
  system.acrossTenants(why, async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${advisoryLocks.tenderAlerts})`);
    return work(tx);
  });

const isPending = sql`m.notified_at is null and m.alert_id is null`;

interface Account extends Record<string, unknown> {
  tenantId: string;
  userId: string;
}

/** One mail for each search of an account that has anything new; a tender that several found is told under the first. Answers whose tenants. */
async function queueInstantMails(tx: Tx): Promise<string[]> {
  const { rows: due } = await tx.execute<Account>(sql`
    select distinct s.tenant_id as "tenantId", s.user_id as "userId"
    from ${tenderMatches} m join ${savedSearches} s on s.id = m.search_id
    where m.kind = 'instant' and ${isPending} and m.matched_at <= now() - make_interval(secs => ${gatherSec})
    limit ${batch}`);
  if (due.length === 0) return [];
  const userIds = due.map(({ userId }) => userId);
  const { rows: alerts } = await tx.execute<Account & { alertId: string }>(sql`
    with owed as materialized (
      select m.search_id, m.tender_id, s.tenant_id, s.user_id, first_value(s.id) over (
        partition by s.user_id, m.tender_id order by lower(s.name), s.id) as first_id
      from ${savedSearches} s join ${tenderMatches} m on m.search_id = s.id
      where s.user_id = any(${sql.param(userIds)}::uuid[]) and m.kind = 'instant' and ${isPending}),
    alerts as materialized (
      select gen_random_uuid() as id, one.* from (select distinct tenant_id, user_id, first_id from owed) one),
    claimed as (
      update ${tenderMatches} m set alert_id = alerts.id from owed join alerts using (user_id, first_id)
      where m.search_id = owed.search_id and m.tender_id = owed.tender_id)
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

/** One mail for each account that has anything new since the last time, once for each of these times. Answers whose tenants. */
async function queueDigests(tx: Tx, rhythm: 'daily' | 'weekly'): Promise<string[]> {
  const { rows: clock } = await tx.execute<{ ms: string }>(sql`select extract(epoch from now()) * 1000 as ms`);
  const { day, at } = lastDigestTime(rhythm, new Date(Number(clock[0]?.ms)));
  const until = sql`${at.toISOString()}::timestamptz`;
  // Accounts come first, and are then asked what they want: each owes many matches.
  const { rows: due } = await tx.execute<Account>(sql`
    with owed as materialized (
      select s.tenant_id, s.user_id from ${tenderMatches} m join ${savedSearches} s on s.id = m.search_id
      where m.kind = 'digest' and ${isPending} and m.matched_at < ${until}
      union
      select m.tenant_id, m.user_id from ${tenderChangeNotices} m where ${isPending} and m.noticed_at < ${until})
    select tenant_id as "tenantId", user_id as "userId" from owed
    where coalesce((select p.digest from ${tenderPreferences} p where p.tenant_id = owed.tenant_id and p.user_id = owed.user_id),
        'daily') = ${rhythm}
      and not exists (
        select from ${mails} x where x.tenant_id = owed.tenant_id and x.key = ${digestKey(day, '')} || owed.user_id)
    limit ${batch}`);
  if (due.length === 0) return [];
  const alerts = due.map((account) => ({ ...account, alertId: newId() }));
  const given = sql`unnest(${sql.param(alerts.map(({ userId }) => userId))}::uuid[],
    ${sql.param(alerts.map(({ alertId }) => alertId))}::uuid[]) alert (user_id, id)`;
  await tx.execute(sql`
    update ${tenderMatches} m set alert_id = alert.id from ${given} join ${savedSearches} s on s.user_id = alert.user_id
    where m.search_id = s.id and m.kind = 'digest' and ${isPending} and m.matched_at < ${until}`);
  await tx.execute(sql`
    update ${tenderChangeNotices} m set alert_id = alert.id from ${given}
    where m.user_id = alert.user_id and ${isPending} and m.noticed_at < ${until}`);
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
