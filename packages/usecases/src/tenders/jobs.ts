import { z } from 'zod';
import { alertLimits } from '@portal/domain/tenders/alert-mailbox';
import { SourceKey } from '@portal/domain/tenders/filters';
import { HOUR, MINUTE, SECOND } from '@portal/domain/time';
import { definePlatformJob, defineTenantJob } from '@portal/platform/jobs/job';

const readDefaults = {
  attempts: 1,
  backoffMs: SECOND,
  key: ({ source }: { source: string }) => source,
  runsAlone: true,
  timeoutMs: HOUR,
};

/** Reads a source once and stores the result in its row; the run fails if the source could not be read. */
export const readSource = definePlatformJob({
  ...readDefaults,
  name: 'tenders.read-source',
  queue: 'tenders',
  payload: z.object({ source: SourceKey }),
});

/** Reads a feed once. Users register feeds, so they have their own queue: slow feeds delay no public source and no alert. */
export const readFeed = definePlatformJob({
  ...readDefaults,
  name: 'tenders.read-feed',
  queue: 'feeds',
  payload: z.object({
    source: SourceKey,
    /** The tenant for which it is read; undefined for a platform feed. */
    tenantId: z.uuid().optional(),
  }),
  // Administrators of every tenant register platform feeds, so these have one common share.
  shareKey: ({ tenantId }) => tenantId ?? 'everybody',
});

/** Starts the reads that are due. */
export const startDueSources = definePlatformJob({
  name: 'tenders.start-due',
  queue: 'tenders',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: MINUTE,
});

/** Moves tenders to their next deadline when one has passed, and closes those that have none left. */
export const passDeadlines = definePlatformJob({
  name: 'tenders.pass-deadlines',
  queue: 'tenders',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: 10 * MINUTE,
});

/** Reads an account's alert mailbox once and stores the result in its row. */
export const fetchAlertMails = defineTenantJob({
  name: 'tenders.fetch-mails',
  queue: 'mailboxes',
  payload: z.object({ tenantId: z.uuid(), userId: z.uuid() }),
  attempts: 1,
  backoffMs: SECOND,
  key: ({ userId }) => userId,
  // The handler stops at its own limit; the extra minute is for the mail it is reading.
  timeoutMs: alertLimits.inAllMs + MINUTE,
});

/** Starts to read the mailboxes that are due. */
export const startDueMailboxes = definePlatformJob({
  name: 'tenders.start-due-mailboxes',
  queue: 'mailboxes',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: MINUTE,
});

/** Matches new and changed tenders with saved searches. */
export const matchTenders = definePlatformJob({
  name: 'tenders.match',
  queue: 'tenders',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: 30 * MINUTE,
});

/** Queues the alert mails that are due. */
export const startDueAlerts = definePlatformJob({
  name: 'tenders.start-alerts',
  queue: 'upkeep',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: 10 * MINUTE,
});
