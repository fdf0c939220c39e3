import type { App } from '../zod-app.ts';
import { registerRssFeeds } from './feed-routes.ts';
import { registerAlertMailbox } from './mailbox-routes.ts';
import { registerSavedSearches } from './saved-search-routes.ts';
import { registerTenderSources } from './source-routes.ts';
import { registerTenderLists } from './tender-routes.ts';
import { registerUnsubscribe } from './unsubscribe-routes.ts';

/** Public tenders: sources, lists, triage, saved searches and alerts. */
export function registerTenders(app: App): void {
  registerAlertMailbox(app);
  registerTenderLists(app);
  registerSavedSearches(app);
  registerUnsubscribe(app);
  registerTenderSources(app);
  registerRssFeeds(app);
}
