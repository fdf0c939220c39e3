import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { type Prepared, prepared } from '@portal/db/prepared';
import { tenants } from '@portal/db/schema/tenants';
import { tenderChangeNotices, tenderChanges, tenderMatches } from '@portal/db/schema/tenders/matches';
import { tenderNotices } from '@portal/db/schema/tenders/notices';
import { savedSearches, tenderPreferences } from '@portal/db/schema/tenders/saved-searches';
import type { AlertKind, DigestRhythm } from '@portal/domain/tenders/saved-searches';
import { isMailboxSource, isSettingsSource, settingsSources } from '@portal/domain/tenders/sources';
import { mailDay, mailMoment } from '@portal/mail/mail-time';
import type { TenantContext } from '@portal/platform/context';
import type { Attempt, Recipient } from '@portal/platform/outbox/mail';
import { checkModuleAccess } from '../../../modules/module-access.ts';
import { matchesBounds, type SearchBounds, searchedTenders } from '../../search.ts';
import { isQueuedIn, returnToPending, stateColumnsOf } from '../match-state.ts';
import { unsubscribeUrl } from '../unsubscribe.ts';

interface Alert {
  alertId: string;
  kind: AlertKind;
  /** The rhythm of the digest when it was queued; null for an instant alert. */
  rhythm: 'daily' | 'weekly' | null;
  maxRows: number;
}

/**
 * The content of an alert mail at the moment it is sent; null if nothing in its list is worth reporting any more. Throws if the account
 * may not use the module.
 */
export async function alertContent(ctx: TenantContext, recipient: Recipient, alert: Alert) {
  // Uses its own connection: a list may be long.
  const list = await ctx.inTenant(ctx.tenantId, recipient.id).tx((tx) => readList(tx, recipient, alert));
  if (!list || list.tenders.length + list.changes.length === 0) return null;
  const { tenders, changes } = limitRows(list, alert.maxRows);
  const { publicUrl } = ctx.config.http;
  return {
    tenantName: recipient.tenantName,
    serviceUrl: publicUrl,
    displayName: recipient.displayName,
    unsubscribeUrl: unsubscribeUrl(ctx.config, { tenantId: ctx.tenantId, userId: recipient.id, kind: alert.kind }),
    total: tenders[0]?.total ?? 0,
    totalChanges: changes[0]?.total ?? 0,
    tenders: tenders.map(tenderInWords),
    changes: changes.map(({ title, kind, url, ...change }) => ({
      title,
      kind,
      url,
      deadline: deadlineOf(change),
    })),
  };
}

/** At most `maxRows` tenders and changes together; a fifth of the rows is reserved for changes. */
function limitRows<T, C>({ tenders, changes }: { tenders: T[]; changes: C[] }, maxRows: number) {
  const shown = changes.slice(0, Math.max(maxRows - tenders.length, Math.ceil(maxRows / 5)));
  return { tenders: tenders.slice(0, maxRows - shown.length), changes: shown };
}

async function readList(tx: Tx, recipient: Recipient, { alertId, kind, rhythm, maxRows }: Alert) {
  const key = { userId: recipient.id, alertId };
  const [[facts]] = await Promise.all([
    tx.run(listFacts, key),
    checkModuleAccess({ run: tx.run, actor: recipient }, { module: 'tender-radar', level: 'USE' }),
  ]);
  // The account has chosen another rhythm since this digest was queued.
  if (!facts || (rhythm !== null && facts.digest !== 'daily' && facts.digest !== rhythm)) return null;
  const { bounds, hasChanges } = facts;
  const [changes, tenders] = await Promise.all([
    hasChanges && rhythm !== null ? tx.run(changesOfList, { ...key, maxRows }) : [],
    bounds.length === 0 ? [] : tx.runAndCommit(tendersOfList(bounds), { ...key, kind, maxRows }),
  ]);
  return { changes, tenders };
}

interface ListKey extends Record<string, unknown> {
  userId: string;
  alertId: string;
}

const userId = sql`${sql.placeholder('userId')}::uuid`;
const alertId = sql`${sql.placeholder('alertId')}::uuid`;

const listed = sql`
  ${tenderMatches} m join ${savedSearches} s on s.id = m.search_id and s.user_id = ${userId}
  where ${isQueuedIn(stateColumnsOf('m'), alertId)}`;
const listedChanges = sql`
  ${tenderChangeNotices} x where ${isQueuedIn(stateColumnsOf('x'), alertId)} and x.user_id = ${userId}`;

/**
 * How often the account wants a digest, the bounds of the searches in the list (all conditions except words and markers; they are checked
 * again), and whether the list has changes. One row, that of the current tenant.
 */
const listFacts = prepared<ListKey>()('asked_by_tender_alert', (db) =>
  db
    .select({
      digest: sql<DigestRhythm>`coalesce((select digest from ${tenderPreferences} where user_id = ${userId}), 'daily')`,
      bounds: sql<string[]>`array(select distinct s.bounds from ${listed} order by s.bounds)`,
      hasChanges: sql<boolean>`exists (select from ${listedChanges})`,
    })
    .from(tenants),
);

interface ListedTender extends Deadline {
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

const deadlineColumns = {
  deadlineAt: sql<string | null>`nullif(t.deadline_at, 'infinity')`,
  isDateOnly: sql<boolean>`t.deadline_is_date_only`,
  daysLeft: sql<number | null>`case when t.deadline_at < 'infinity' then
    (t.deadline_at at time zone 'Europe/Berlin')::date - (now() at time zone 'Europe/Berlin')::date end`,
};

interface ListParams extends ListKey {
  kind: AlertKind;
  maxRows: number;
}

/** Statements that stay prepared. Nearly all lists share one: most searches have the same bounds. */
const maxStatements = 20;
const statements = new Map<string, Prepared<ListParams, ListedTender>>();

function tendersOfList(bounds: string[]): Prepared<ListParams, ListedTender> {
  const key = bounds.join();
  const known = statements.get(key);
  if (known || statements.size === maxStatements) return known ?? prepareTenders('', bounds);
  const statement = prepareTenders(`tenders_to_tell_${statements.size}`, bounds);
  statements.set(key, statement);
  return statement;
}

/**
 * The tenders in a mail’s list that its searches would still find, each once, under the first of these searches. Leaves out:
 * - tenders that another mail of this kind has sent, or has queued with a lower id;
 * - cancelled tenders, and calls whose deadline has passed (a search that names kinds of notices would find those).
 */
function prepareTenders(name: string, bounds: string[]): Prepared<ListParams, ListedTender> {
  const isWithin = bounds.map(
    (each) => sql`(m.bounds = ${each} and ${matchesBounds(JSON.parse(each) as SearchBounds)})`,
  );
  const found = sql`(
    with m as materialized (select m.tender_id, m.reasons, s.id as search_id, s.name, s.bounds from ${listed}),
    before as materialized (
      select other.tender_id from ${savedSearches} s join ${tenderMatches} other
        on other.search_id = s.id and other.tender_id = any(array(select tender_id from m))
      where s.user_id = ${userId} and other.kind = ${sql.placeholder('kind')}
        and (other.is_told or other.notified_at is null and other.alert_id < ${alertId})
        and other.alert_id is distinct from ${alertId})
    select m.tender_id, min(lower(m.name)) as first, json_agg(json_build_object('search', m.name, 'reasons', m.reasons)
      order by lower(m.name), m.search_id) as hits
    from m join ${searchedTenders} on t.tender_id = m.tender_id
    where (${sql.join(isWithin, sql` or `)}) and m.tender_id not in (select tender_id from before)
    group by m.tender_id) found`;
  return prepared<ListParams>()(name, (db) =>
    db
      .select({
        hits: sql<ListedTender['hits']>`found.hits`,
        title: sql<string>`n.title`,
        buyerName: sql<string | null>`n.buyer_name`,
        place: sql<string | null>`coalesce(n.region, n.buyer_city)`,
        valueCents: sql<string | null>`n.value_cents`,
        currency: sql<string | null>`n.currency`,
        source: sql<string>`n.source_key`,
        url: sql<string | null>`n.source_url`,
        total: sql<number>`count(*) over ()::int`,
        ...deadlineColumns,
      })
      .from(found)
      .innerJoin(sql`${tenderNotices} n`, sql`n.tender_id = found.tender_id and n.is_primary and not n.is_cancelled`)
      .innerJoin(searchedTenders, sql`t.tender_id = found.tender_id`)
      .where(
        sql`t.open_until > now() or exists (
          select from ${tenderNotices} x where x.tender_id = found.tender_id and x.notice_type = 'result')`,
      )
      .orderBy(sql`found.first`, sql`t.deadline_at`, sql`found.tender_id`)
      .limit(sql.placeholder('maxRows')),
  );
}

/** The latest change of each tender. */
const changesOfList = prepared<ListKey & { maxRows: number }>()('tender_changes_to_tell', (db) =>
  db
    .select({
      title: sql<string>`title`,
      kind: sql<'cancelled' | 'deadline' | 'corrected'>`kind`,
      url: sql<string | null>`url`,
      total: sql<number>`count(*) over ()::int`,
      ...deadlineColumns,
    })
    .from(
      sql`(
        select distinct on (c.tender_id) n.title, c.kind, n.source_url as url, c.at, t.deadline_at, t.deadline_is_date_only
        from (select x.change_id from ${listedChanges}) x join ${tenderChanges} c on c.id = x.change_id
        join ${tenderNotices} n on n.tender_id = c.tender_id and n.is_primary
        join ${searchedTenders} on t.tender_id = c.tender_id
        order by c.tender_id, c.at desc, c.id) t`,
    )
    .orderBy(sql`at desc`)
    .limit(sql.placeholder('maxRows')),
);

const deadlineOf = ({ deadlineAt, isDateOnly, daysLeft }: Deadline): string | null => {
  if (deadlineAt === null || daysLeft === null) return null;
  const at = new Date(deadlineAt);
  const left = daysLeft > 1 ? `noch ${daysLeft} Tage` : ['heute', 'morgen'][daysLeft];
  return `${isDateOnly ? mailDay(at) : mailMoment(at)}${left === undefined ? '' : ` (${left})`}`;
};

const formatOf = (currency: string) =>
  new Intl.NumberFormat('de-DE', { style: 'currency', currency, maximumFractionDigits: 0 });
// Created once: creating a formatter takes longer than the rest of the work for a tender.
const euros = formatOf('EUR');

const amount = (cents: number, currency: string): string =>
  (currency === 'EUR' ? euros : formatOf(currency)).format(cents / 100);

function tenderInWords(tender: ListedTender) {
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

/** An attempt to send a mail, and whether its list moves to a later mail instead. */
type AlertAttempt = Attempt<{ alertId: string }> & { isDeferred: boolean };

/** Moves the lists of these mails to the state that follows from each attempt. */
export async function settleAlerts(tx: Tx, attempts: AlertAttempt[]): Promise<void> {
  const byState = Map.groupBy(attempts, stateAfter);
  for (const { userId, data } of byState.get('pending') ?? []) {
    const { alertId } = data;
    await returnToPending(tx, userId, eq(tenderMatches.alertId, alertId));
    await tx.update(tenderChangeNotices).set({ alertId: null }).where(isQueuedIn(tenderChangeNotices, alertId));
  }
  for (const state of ['sent', 'dismissed'] as const) {
    const alertIds = (byState.get(state) ?? []).map(({ data }) => data.alertId);
    if (alertIds.length > 0) await tx.run(settleLists, { alertIds, wasSent: state === 'sent' });
  }
}

/**
 * The state of a mail’s list after an attempt. If the mail server refused the mail, or the portal did not hand it over, the list waits
 * for the next digest. If the mail was dropped because it had no recipient or nothing to report, the list is dismissed.
 */
function stateAfter({
  outcome,
  mayHaveArrived,
  isDeferred,
}: AlertAttempt): 'queued' | 'pending' | 'sent' | 'dismissed' {
  if (outcome === 'postponed') return 'queued';
  if (isDeferred || ((outcome === 'failed' || outcome === 'withheld') && !mayHaveArrived)) return 'pending';
  return outcome === 'sent' || mayHaveArrived ? 'sent' : 'dismissed';
}

const settleLists = prepared<{ alertIds: string[]; wasSent: boolean }>()('settle_tender_alerts', (db) => {
  const isInLists = (table: typeof tenderMatches | typeof tenderChangeNotices) =>
    isQueuedIn(table, sql`any(${sql.placeholder('alertIds')}::uuid[])`);
  const changes = db.$with('changes').as(
    db
      .update(tenderChangeNotices)
      .set({ notifiedAt: sql`now()` })
      .where(isInLists(tenderChangeNotices))
      .returning({ changeId: tenderChangeNotices.changeId }),
  );
  return db
    .with(changes)
    .update(tenderMatches)
    .set({ notifiedAt: sql`now()`, wasSent: sql`${sql.placeholder('wasSent')}::boolean` })
    .where(isInLists(tenderMatches))
    .returning({ searchId: tenderMatches.searchId });
});
