import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { tenderChangeNotices, tenderChanges, tenderMatches } from '@portal/db/schema/tenders/matches';
import { tenderNotices } from '@portal/db/schema/tenders/notices';
import { savedSearches } from '@portal/db/schema/tenders/saved-searches';
import type { AlertKind } from '@portal/domain/tenders/saved-searches';
import { isMailboxSource, isSettingsSource, settingsSources } from '@portal/domain/tenders/sources';
import { mailDay, mailMoment } from '@portal/mail/mail-time';
import type { TenantContext } from '@portal/platform/context';
import type { Attempt, Recipient } from '@portal/platform/outbox/mail';
import { matchesBounds, type SearchBounds, searchedTenders } from '../../search.ts';
import { digestRhythmOf, releaseMatches } from '../owed.ts';
import { unsubscribeUrl } from '../unsubscribe.ts';

interface Alert {
  alertId: string;
  kind: AlertKind;
  /** For which digests it was promised; null for a mail that is none. */
  rhythm: 'daily' | 'weekly' | null;
  mostRows: number;
}

/** What a mail about tenders says at the moment it is sent; null when nothing of its list is worth saying any more. */
export async function alertContent(ctx: TenantContext, recipient: Recipient, alert: Alert) {
  const found = await ctx.inTenant(ctx.tenantId, recipient.id).tx(async (tx) => {
    const { id } = recipient;
    const [isWanted, bounds] = await Promise.all([isStillWanted(tx, id, alert), boundsOf(tx, id, alert)]);
    if (!isWanted) return null;
    const [tenders, changes] = await Promise.all([
      bounds.length === 0 ? [] : tendersToTell(tx, id, alert, bounds),
      alert.rhythm === null ? [] : changesToTell(tx, id, alert),
    ]);
    return { tenders, changes };
  });
  if (!found || found.tenders.length + found.changes.length === 0) return null;
  const { publicUrl } = ctx.config.http;
  return {
    tenantName: recipient.tenantName,
    serviceUrl: publicUrl,
    displayName: recipient.displayName,
    unsubscribeUrl: unsubscribeUrl(ctx.config, { tenantId: ctx.tenantId, userId: recipient.id, kind: alert.kind }),
    total: found.tenders[0]?.total ?? 0,
    tenders: found.tenders.map(tenderInWords),
    changes: found.changes.map(({ title, kind, url, ...change }) => ({
      title,
      kind,
      url,
      deadline: deadlineOf(change),
    })),
  };
}

/** Whoever has chosen another rhythm meanwhile does not get the mail of the one before. */
async function isStillWanted(tx: Tx, userId: string, { rhythm }: Alert): Promise<boolean> {
  if (rhythm === null) return true;
  const digest = await digestRhythmOf(tx, userId);
  return digest === 'daily' || digest === rhythm;
}

const listed = (userId: string, alertId: string) => sql`
  from ${tenderMatches} m join ${savedSearches} s on s.id = m.search_id and s.user_id = ${userId}
  where m.alert_id = ${alertId} and m.notified_at is null`;

/** What the searches of a mail’s list ask for beside words and markers, which is asked again: each once. */
async function boundsOf(tx: Tx, userId: string, { alertId }: Alert): Promise<string[]> {
  const { rows } = await tx.execute<{ bounds: string }>(sql`select distinct s.bounds ${listed(userId, alertId)}`);
  return rows.map(({ bounds }) => bounds);
}

interface TenderToTell extends Deadline, Record<string, unknown> {
  hits: { search: string; reasons: string[] }[];
  title: string;
  buyerName: string | null;
  place: string | null;
  valueCents: string | null;
  currency: string | null;
  source: string;
  url: string | null;
  total: number;
}

interface Deadline {
  deadlineAt: string | null;
  isDateOnly: boolean;
  daysLeft: number | null;
}

const deadlineColumns = sql`nullif(t.deadline_at, 'infinity') as "deadlineAt", t.deadline_is_date_only as "isDateOnly",
  case when t.deadline_at < 'infinity' then
    (t.deadline_at at time zone 'Europe/Berlin')::date - (now() at time zone 'Europe/Berlin')::date end as "daysLeft"`;

/**
 * The tenders of a mail’s list that its searches would still find, each once, under the first of these. What another mail of this kind
 * has told is left out; so is what was called off.
 */
async function tendersToTell(
  tx: Tx,
  userId: string,
  { alertId, kind, mostRows }: Alert,
  bounds: string[],
): Promise<TenderToTell[]> {
  const isWithin = bounds.map(
    (each) => sql`(m.bounds = ${each} and ${matchesBounds(JSON.parse(each) as SearchBounds)})`,
  );
  const { rows } = await tx.execute<TenderToTell>(sql`
    with m as materialized (select m.tender_id, m.reasons, s.id as search_id, s.name, s.bounds ${listed(userId, alertId)}),
    before as materialized (
      select other.tender_id from ${savedSearches} s join ${tenderMatches} other
        on other.search_id = s.id and other.tender_id = any(array(select tender_id from m))
      where s.user_id = ${userId} and other.is_told and other.kind = ${kind} and other.alert_id is distinct from ${alertId}),
    told as materialized (
      select m.tender_id, min(lower(m.name)) as first, json_agg(json_build_object('search', m.name, 'reasons', m.reasons)
        order by lower(m.name), m.search_id) as hits
      from m join ${searchedTenders} on t.tender_id = m.tender_id
      where (${sql.join(isWithin, sql` or `)}) and m.tender_id not in (select tender_id from before)
      group by m.tender_id)
    select told.hits, n.title, n.buyer_name as "buyerName", coalesce(n.region, n.buyer_city) as place, n.value_cents as "valueCents",
      n.currency, n.source_key as source, n.source_url as url, count(*) over ()::int as total, ${deadlineColumns}
    from told join ${tenderNotices} n on n.tender_id = told.tender_id and n.is_primary and not n.is_cancelled
    join ${searchedTenders} on t.tender_id = told.tender_id
    order by told.first, t.deadline_at, told.tender_id limit ${mostRows}`);
  return rows;
}

interface ChangeToTell extends Deadline, Record<string, unknown> {
  title: string;
  kind: 'cancelled' | 'deadline' | 'corrected';
  url: string | null;
}

/** The latest of what has become different about each tender. */
async function changesToTell(tx: Tx, userId: string, { alertId, mostRows }: Alert): Promise<ChangeToTell[]> {
  const { rows } = await tx.execute<ChangeToTell>(sql`
    select * from (
      select distinct on (c.tender_id) n.title, c.kind, n.source_url as url, c.at, ${deadlineColumns}
      from ${tenderChangeNotices} x join ${tenderChanges} c on c.id = x.change_id
      join ${tenderNotices} n on n.tender_id = c.tender_id and n.is_primary
      join ${searchedTenders} on t.tender_id = c.tender_id
      where x.alert_id = ${alertId} and x.user_id = ${userId} and x.notified_at is null
      order by c.tender_id, c.at desc, c.id) latest
    order by at desc limit ${mostRows}`);
  return rows;
}

const deadlineOf = ({ deadlineAt, isDateOnly, daysLeft }: Deadline): string | null => {
  if (deadlineAt === null || daysLeft === null) return null;
  const at = new Date(deadlineAt);
  const left = daysLeft > 1 ? `noch ${daysLeft} Tage` : ['heute', 'morgen'][daysLeft];
  return `${isDateOnly ? mailDay(at) : mailMoment(at)}${left === undefined ? '' : ` (${left})`}`;
};

const amount = (cents: number, currency: string): string =>
  new Intl.NumberFormat('de-DE', { style: 'currency', currency, maximumFractionDigits: 0 }).format(cents / 100);

function tenderInWords(tender: TenderToTell) {
  const { hits, title, buyerName, place, valueCents, currency, source, url } = tender;
  const [first, ...others] = hits;
  return {
    search: first?.search ?? '',
    alsoIn: others.map(({ search }) => search),
    title,
    buyer: buyerName,
    place,
    deadline: deadlineOf(tender),
    value: valueCents === null || currency === null ? null : amount(Number(valueCents), currency),
    reasons: [...new Set(hits.flatMap(({ reasons }) => reasons))],
    source: isSettingsSource(source) ? settingsSources[source] : isMailboxSource(source) ? 'Ihr Postfach' : 'RSS',
    url,
  };
}

/**
 * What is remembered of a try: a mail that was taken has told its whole list, and one that ends for want of a reader or of anything to
 * say owes it to nobody. What the mail server would not take waits for the next digest.
 */
export async function settleAlert(
  tx: Tx,
  {
    alertId,
    userId,
    outcome,
    mayHaveArrived,
    isPutOff,
  }: Pick<Attempt<unknown>, 'userId' | 'outcome' | 'mayHaveArrived'> & { alertId: string; isPutOff: boolean },
): Promise<void> {
  if (outcome === 'postponed') return;
  const isListed = and(eq(tenderMatches.alertId, alertId), isNull(tenderMatches.notifiedAt));
  const isNoticed = and(eq(tenderChangeNotices.alertId, alertId), isNull(tenderChangeNotices.notifiedAt));
  if (isPutOff || (outcome === 'failed' && !mayHaveArrived)) {
    await releaseMatches(tx, userId, isListed);
    await tx.update(tenderChangeNotices).set({ alertId: null }).where(isNoticed);
    return;
  }
  const isTold = outcome === 'sent' || mayHaveArrived;
  await Promise.all([
    tx
      .update(tenderMatches)
      .set({ notifiedAt: sql`now()`, isTold })
      .where(isListed),
    tx
      .update(tenderChangeNotices)
      .set({ notifiedAt: sql`now()` })
      .where(isNoticed),
  ]);
}
