import { NewRssFeed } from '@portal/domain/tenders/feeds';
import { TenderFilters } from '@portal/domain/tenders/filters';
import { createFeed, listFeeds } from '@portal/usecases/tenders/feeds';
import { readSource } from '@portal/usecases/tenders/jobs';
import { listTenders } from '@portal/usecases/tenders/list-tenders';
import { triageTenders } from '@portal/usecases/tenders/triage';
import { carryOut } from './act.ts';
import type { Demo } from './fill.ts';

/** Notices of every source, and what somebody thought of them. Saved searches and an alert mailbox belong here, too. */
export async function fillTenders({ runtime, systems, as }: Demo): Promise<void> {
  const newest = { filters: TenderFilters.parse({}), window: {}, triage: {}, sort: 'published', limit: 6 } as const;
  const hasSome = await as('timo.vorlage', async (ctx) => {
    const url = `${systems.tenders.origin}/feeds/musterhausen.xml`;
    if (!(await listFeeds(ctx)).some((feed) => feed.url === url))
      await createFeed(ctx, NewRssFeed.parse({ url, title: 'Vergaben der Stadt Musterhausen', scope: 'personal' }));
    return (await listTenders(ctx, newest)).items.some(({ triage }) => triage.read);
  });
  if (hasSome) return;
  for (const source of ['ted', 'oeffentlichevergabe', 'bund']) await carryOut(runtime, readSource, { source });
  await as('timo.vorlage', async (ctx) => {
    const ids = (await listTenders(ctx, newest)).items.map(({ id }) => id);
    await triageTenders(ctx, ids.slice(0, 2), { read: true, favorite: true });
    await triageTenders(ctx, ids.slice(2, 4), { read: true });
  });
}
