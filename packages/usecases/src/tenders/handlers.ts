import { type Handler, handle } from '@portal/platform/jobs/handler';
import { matchNewTenders } from './alerts/match-tenders.ts';
import { startDueTenderAlerts } from './alerts/start-due-alerts.ts';
import { passTenderDeadlines } from './ingest/pass-deadlines.ts';
import { readTenderSource } from './ingest/read-source.ts';
import { startDueTenderSources } from './ingest/start-due-sources.ts';
import {
  fetchAlertMails,
  matchTenders,
  passDeadlines,
  readFeed,
  readSource,
  startDueAlerts,
  startDueMailboxes,
  startDueSources,
} from './jobs.ts';
import { fetchAlertMailsOf } from './mailbox/fetch-mails.ts';
import { startDueAlertMails } from './mailbox/start-due-fetches.ts';

export const tenderHandlers: Handler[] = [
  handle(readSource, (system, { source }, work) => readTenderSource(system, { source, tenantId: null }, work)),
  handle(readFeed, (system, { source, tenantId = null }, work) => readTenderSource(system, { source, tenantId }, work)),
  handle(startDueSources, startDueTenderSources),
  handle(startDueMailboxes, startDueAlertMails),
  handle(fetchAlertMails, (ctx, { userId }, work) => fetchAlertMailsOf(ctx, userId, work)),
  handle(passDeadlines, (system, _payload, { signal }) => passTenderDeadlines(system, signal)),
  handle(matchTenders, (system, _payload, { signal }) => matchNewTenders(system, signal)),
  handle(startDueAlerts, (system, _payload, { signal }) => startDueTenderAlerts(system, signal)),
];
