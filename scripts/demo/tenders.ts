import { NewRssFeed } from '@portal/domain/tenders/feeds';
import { TenderFilters } from '@portal/domain/tenders/filters';
import { NewSavedSearch } from '@portal/domain/tenders/saved-searches';
import type { UserContext } from '@portal/platform/context';
import { alertMailboxForm } from '@portal/testing/alert-mailboxes';
import { createSavedSearch, listSavedSearches } from '@portal/usecases/tenders/alerts/saved-searches';
import { createFeed, listFeeds } from '@portal/usecases/tenders/feeds';
import { readSource } from '@portal/usecases/tenders/jobs';
import { listTenders } from '@portal/usecases/tenders/list-tenders';
import { fetchAlertMailsOf } from '@portal/usecases/tenders/mailbox/fetch-mails';
import { getAlertMailbox, putAlertMailbox } from '@portal/usecases/tenders/mailbox/mailbox';
import { triageTenders } from '@portal/usecases/tenders/triage';
import { performJob } from './act.ts';
import type { Demo } from './fill.ts';

const searches = [
  { name: 'Reinigung', filters: { text: { all: ['reinigung'] } }, instantAlert: true },
  { name: 'Rund um Gebäude', filters: { cpv: { prefixes: ['45', '5075'] } } },
  { name: 'Winterdienst im Süden', filters: { text: { all: ['winterdienst'] }, region: { laender: ['BW', 'BY'] } } },
  { name: 'Noch vier Wochen Zeit', filters: { deadline: { minDays: 28, includeUnknown: false } } },
  { name: 'Schulen ohne Möbel', filters: { text: { any: ['grundschule', 'schule'], none: ['schulmöbel'] } } },
].map((search) => NewSavedSearch.parse(search));

/** Notices of every source, their triage by one person, and that person's saved searches. */
export async function fillTenders(demo: Demo): Promise<void> {
  const { runtime, systems, as } = demo;
  const newest = { filters: TenderFilters.parse({}), window: {}, triage: {}, sort: 'published', limit: 40 } as const;
  const hasSome = await as('timo.vorlage', async (ctx) => {
    const url = `${systems.tenders.origin}/feeds/musterhausen.xml`;
    if (!(await listFeeds(ctx)).some((feed) => feed.url === url))
      await createFeed(ctx, NewRssFeed.parse({ url, title: 'Vergaben der Stadt Musterhausen', scope: 'personal' }));
    return (await listTenders(ctx, newest)).items.some(({ triage }) => triage.read);
  });
  if (!hasSome) {
    for (const source of ['ted', 'oeffentlichevergabe', 'bund']) await performJob(runtime, readSource, { source });
    await as('timo.vorlage', async (ctx) => {
      const ids = (await listTenders(ctx, newest)).items.map(({ id }) => id);
      await triageTenders(ctx, ids.slice(0, 2), { read: true, favorite: true });
      await triageTenders(ctx, ids.slice(2, 4), { read: true });
      await triageTenders(ctx, everyFifth(ids.slice(4)), { favorite: true });
    });
  }
  await as('timo.vorlage', (ctx) => fillSearches(ctx, searches));
  await as('mara.muster', async (ctx) => {
    // The administrator looks now and then, and wants no mails at once.
    await fillSearches(ctx, searches.slice(1, 4));
    const { items } = await listTenders(ctx, newest);
    if (items.some(({ triage }) => triage.favorite)) return;
    await triageTenders(ctx, everyFifth(items.map(({ id }) => id)), { read: true, favorite: true });
  });
  // The first read of a source sends no alerts. A saved search matches this notice, and the service mails it.
  systems.announce();
  if (!hasSome) await performJob(runtime, readSource, { source: 'bund' });
  if (systems.invoices !== null) await fillAlertMailbox(demo, systems.invoices);
}

const everyFifth = (ids: string[]): string[] => ids.filter((_, n) => n % 5 === 0);

async function fillSearches(ctx: UserContext, wanted: NewSavedSearch[]): Promise<void> {
  const known = new Set((await listSavedSearches(ctx)).map(({ name }) => name));
  for (const search of wanted) if (!known.has(search.name)) await createSavedSearch(ctx, search);
}

async function fillAlertMailbox({ as }: Demo, mailbox: NonNullable<Demo['systems']['invoices']>): Promise<void> {
  await as('timo.vorlage', async (ctx) => {
    if ((await getAlertMailbox(ctx)).port !== mailbox.port)
      await putAlertMailbox(ctx, alertMailboxForm(mailbox, 'ausschreibungen'));
    const isRead = (await getAlertMailbox(ctx)).lastFetchedAt !== null;
    if (!isRead) await fetchAlertMailsOf(ctx, ctx.actor.id, { signal: AbortSignal.timeout(60_000) });
  });
}
