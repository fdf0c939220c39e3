import type { App } from '../zod-app.ts';
import { registerRssFeeds } from './feed-routes.ts';
import { registerAlertMailbox } from './mailbox-routes.ts';
import { registerTenderSources } from './source-routes.ts';
import { registerTenderLists } from './tender-routes.ts';

/** Public tenders: where they come from, which there are, and what people note of them. */
export function registerTenders(app: App): void {
  registerAlertMailbox(app);
  registerTenderLists(app);
  registerTenderSources(app);
  registerRssFeeds(app);
}
