import { z } from 'zod';
import { alertLimits } from '@portal/domain/tenders/alert-mailbox';
import { SourceKey } from '@portal/domain/tenders/filters';
import { HOUR, MINUTE, SECOND } from '@portal/domain/time';
import { definePlatformJob, defineTenantJob } from '@portal/platform/jobs/job';

const reading = {
  attempts: 1,
  backoffMs: SECOND,
  key: ({ source }: { source: string }) => source,
  runsAlone: true,
  timeoutMs: HOUR,
};

/** Reads a source once. What it says of itself afterwards is in its row; the run fails when it could not be read. */
export const readSource = definePlatformJob({
  ...reading,
  name: 'tenders.read-source',
  queue: 'tenders',
  payload: z.object({ source: SourceKey }),
});

/** The same for a feed, which people register: however many are silent, no public source and no alert waits behind them. */
export const readFeed = definePlatformJob({
  ...reading,
  name: 'tenders.read-feed',
  queue: 'feeds',
  payload: z.object({
    source: SourceKey,
    /** The tenant for which it is read; none for a feed of everybody. */
    tenantId: z.uuid().optional(),
  }),
  // Administrators of every tenant register feeds of everybody, so these share as well.
  shareKey: ({ tenantId }) => tenantId ?? 'everybody',
});

/** Begins the readings whose time has come. */
export const startDueSources = definePlatformJob({
  name: 'tenders.start-due',
  queue: 'tenders',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: MINUTE,
});

/** Moves on to the next deadline where one has passed, and closes what has none left. */
export const passDeadlines = definePlatformJob({
  name: 'tenders.pass-deadlines',
  queue: 'tenders',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: 10 * MINUTE,
});

/** Reads an account's alert mailbox once. What it says of itself afterwards is in its row. */
export const fetchAlertMails = defineTenantJob({
  name: 'tenders.fetch-mails',
  queue: 'mailboxes',
  payload: z.object({ tenantId: z.uuid(), userId: z.uuid() }),
  attempts: 1,
  backoffMs: SECOND,
  key: ({ userId }) => userId,
  // It ends by itself before, but for the mail it is at.
  timeoutMs: alertLimits.inAllMs + MINUTE,
});

/** Begins to read the mailboxes whose time has come. */
export const startDueMailboxes = definePlatformJob({
  name: 'tenders.start-due-mailboxes',
  queue: 'mailboxes',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: MINUTE,
});

/** Asks saved searches about the tenders that are new or different. */
export const matchTenders = definePlatformJob({
  name: 'tenders.match',
  queue: 'tenders',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: 30 * MINUTE,
});

/** Promises the mails about matches whose time has come. */
export const startDueAlerts = definePlatformJob({
  name: 'tenders.start-alerts',
  queue: 'upkeep',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: 10 * MINUTE,
});
