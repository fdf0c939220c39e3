import { and, eq, isNull, sql } from 'drizzle-orm';
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
import { returnToPending } from '../match-state.ts';
import { unsubscribeUrl } from '../unsubscribe.ts';

interface Alert {
  alertId: string;
  kind: AlertKind;
  /** For which digests it was promised; null for a mail that is none. */
  rhythm: 'daily' | 'weekly' | null;
  maxRows: number;
}

/**
 * What a mail about tenders says at the moment it is sent; null when nothing of its list is worth saying any more. Throws where the
 * account may not use the module.
 */
export async function alertContent(ctx: TenantContext, recipient: Recipient, alert: Alert) {
  // On a connection of its own: a list may be long.
  const told = await ctx.inTenant(ctx.tenantId, recipient.id).tx((tx) => whatToTell(tx, recipient, alert));
  if (!told || told.tenders.length + told.changes.length === 0) return null;
  const { tenders, changes } = shared(told, alert.maxRows);
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

/** Of both some are shown, and no more together than a mail has room for. */
function shared<T, C>({ tenders, changes }: { tenders: T[]; changes: C[] }, maxRows: number) {
  const shown = changes.slice(0, Math.max(maxRows - tenders.length, Math.ceil(maxRows / 5)));
  return { tenders: tenders.slice(0, maxRows - shown.length), changes: shown };
}

async function whatToTell(tx: Tx, recipient: Recipient, { alertId, kind, rhythm, maxRows }: Alert) {
  const listing = { userId: recipient.id, alertId };
  const [[asked]] = await Promise.all([
    tx.run(askedByAlert, listing),
    checkModuleAccess({ run: tx.run, actor: recipient }, { module: 'tender-radar', level: 'USE' }),
  ]);
  // Whoever has chosen another rhythm meanwhile does not get the mail of the one before.
  if (!asked || (rhythm !== null && asked.digest !== 'daily' && asked.digest !== rhythm)) return null;
  const { bounds, hasChanges } = asked;
  const [changes, tenders] = await Promise.all([
    hasChanges && rhythm !== null ? tx.run(changesToTell, { ...listing, maxRows }) : [],
    bounds.length === 0 ? [] : tx.runAndCommit(tendersToTell(bounds), { ...listing, kind, maxRows }),
  ]);
  return { changes, tenders };
}

interface Listing extends Record<string, unknown> {
  userId: string;
  alertId: string;
}

const userId = sql`${sql.placeholder('userId')}::uuid`;
const alertId = sql`${sql.placeholder('alertId')}::uuid`;

const listed = sql`
  ${tenderMatches} m join ${savedSearches} s on s.id = m.search_id and s.user_id = ${userId}
  where m.alert_id = ${alertId} and m.notified_at is null`;
const listedChanges = sql`
  ${tenderChangeNotices} x where x.alert_id = ${alertId} and x.user_id = ${userId} and x.notified_at is null`;

/**
 * How often the account wants a digest, what the searches of a mail’s list ask for beside words and markers, which is asked again, and
 * whether the list has changes. One row, that of the tenant at work.
 */
const askedByAlert = prepared<Listing>()('asked_by_tender_alert', (db) =>
  db
    .select({
      digest: sql<DigestRhythm>`coalesce((select digest from ${tenderPreferences} where user_id = ${userId}), 'daily')`,
      bounds: sql<string[]>`array(select distinct s.bounds from ${listed} order by s.bounds)`,
      hasChanges: sql<boolean>`exists (select from ${listedChanges})`,
    })
    .from(tenants),
);

interface TenderToTell extends Deadline {
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

interface Telling extends Listing {
  kind: AlertKind;
  maxRows: number;
}

/** Statements that stay prepared: nearly all lists share one, since their searches ask for the same beside words. */
const maxKept = 20;
const kept = new Map<string, Prepared<Telling, TenderToTell>>();

function tendersToTell(bounds: string[]): Prepared<Telling, TenderToTell> {
  const key = bounds.join();
  const known = kept.get(key);
  if (known || kept.size === maxKept) return known ?? tellingOf('', bounds);
  const statement = tellingOf(`tenders_to_tell_${kept.size}`, bounds);
  kept.set(key, statement);
  return statement;
}

/**
 * The tenders of a mail’s list that its searches would still find, each once, under the first of these. What another mail of this kind
 * has told is left out, and what another that is still on its way has in its list: of two such mails the one with the lower id tells it.
 * So is what was called off, and a call whose time is up, which a search that names kinds of notices would find.
 */
function tellingOf(name: string, bounds: string[]): Prepared<Telling, TenderToTell> {
  const isWithin = bounds.map(
    (each) => sql`(m.bounds = ${each} and ${matchesBounds(JSON.parse(each) as SearchBounds)})`,
  );
  const told = sql`(
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
    group by m.tender_id) told`;
  return prepared<Telling>()(name, (db) =>
    db
      .select({
        hits: sql<TenderToTell['hits']>`told.hits`,
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
      .from(told)
      .innerJoin(sql`${tenderNotices} n`, sql`n.tender_id = told.tender_id and n.is_primary and not n.is_cancelled`)
      .innerJoin(searchedTenders, sql`t.tender_id = told.tender_id`)
      .where(
        sql`t.open_until > now() or exists (
          select from ${tenderNotices} x where x.tender_id = told.tender_id and x.notice_type = 'result')`,
      )
      .orderBy(sql`told.first`, sql`t.deadline_at`, sql`told.tender_id`)
      .limit(sql.placeholder('maxRows')),
  );
}

/** The latest of what has become different about each tender. */
const changesToTell = prepared<Listing & { maxRows: number }>()('tender_changes_to_tell', (db) =>
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
// Kept, since making one takes longer than all else that is done for a tender.
const euros = formatOf('EUR');

const amount = (cents: number, currency: string): string =>
  (currency === 'EUR' ? euros : formatOf(currency)).format(cents / 100);

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

/** A try of a mail, and whether what it was to tell is left to a later one after all. */
type AlertAttempt = Attempt<{ alertId: string }> & { isPutOff: boolean };

/**
 * What is remembered of tries: a mail that was taken has told its whole list, and one that ends for want of a reader or of anything to
 * say owes it to nobody. What the mail server would not take, or what was not even handed to it for our own reasons, waits for the next
 * digest.
 */
export async function settleAlerts(tx: Tx, attempts: AlertAttempt[]): Promise<void> {
  const ended = Map.groupBy(attempts, endOfList);
  for (const { userId, data } of ended.get('released') ?? []) {
    const { alertId } = data;
    await returnToPending(tx, userId, and(eq(tenderMatches.alertId, alertId), isNull(tenderMatches.notifiedAt)));
    await tx
      .update(tenderChangeNotices)
      .set({ alertId: null })
      .where(and(eq(tenderChangeNotices.alertId, alertId), isNull(tenderChangeNotices.notifiedAt)));
  }
  for (const end of ['told', 'passed over'] as const) {
    const alertIds = (ended.get(end) ?? []).map(({ data }) => data.alertId);
    if (alertIds.length > 0) await tx.run(settleLists, { alertIds, isTold: end === 'told' });
  }
}

function endOfList({ outcome, mayHaveArrived, isPutOff }: AlertAttempt): 'kept' | 'released' | 'told' | 'passed over' {
  if (outcome === 'postponed') return 'kept';
  if (isPutOff || ((outcome === 'failed' || outcome === 'withheld') && !mayHaveArrived)) return 'released';
  return outcome === 'sent' || mayHaveArrived ? 'told' : 'passed over';
}

const settleLists = prepared<{ alertIds: string[]; isTold: boolean }>()('settle_tender_alerts', (db) => {
  const isOfThese = ({ alertId, notifiedAt }: typeof tenderMatches | typeof tenderChangeNotices) =>
    and(sql`${alertId} = any(${sql.placeholder('alertIds')}::uuid[])`, isNull(notifiedAt));
  const changes = db.$with('changes').as(
    db
      .update(tenderChangeNotices)
      .set({ notifiedAt: sql`now()` })
      .where(isOfThese(tenderChangeNotices))
      .returning({ changeId: tenderChangeNotices.changeId }),
  );
  return db
    .with(changes)
    .update(tenderMatches)
    .set({ notifiedAt: sql`now()`, isTold: sql`${sql.placeholder('isTold')}::boolean` })
    .where(isOfThese(tenderMatches))
    .returning({ searchId: tenderMatches.searchId });
});
