import { sql } from 'drizzle-orm';
import { runs } from '@portal/db/schema/platform/operations';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { tenderChanges, tenderMatches } from '@portal/db/schema/tenders/matches';
import { tenderPayloads, tenders as tenderRows } from '@portal/db/schema/tenders/notices';
import { MINUTE, SECOND } from '@portal/domain/time';
import type { Area } from '@portal/platform/area';
import { quarterEach } from '@portal/platform/jobs/job';
import { schedule } from '@portal/platform/jobs/schedules';
import { digestMail } from './alerts/mails/digest.ts';
import { instantMail } from './alerts/mails/instant.ts';
import { dismissUnsent, removeSurplusMatches } from './alerts/match-state.ts';
import { auditActions } from './audit.ts';
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
import { alertPasswordContext } from './mailbox/stored-mailbox.ts';
import { removeSurplusTenders } from './remove-surplus.ts';

export const tenders: Area = {
  name: 'tenders',
  tags: { tenders: 'Public tenders, their sources, and the marks and saved searches of users.' },
  jobs: [
    readSource,
    readFeed,
    startDueSources,
    startDueMailboxes,
    fetchAlertMails,
    passDeadlines,
    matchTenders,
    startDueAlerts,
  ],
  schedules: [
    ...[startDueSources, passDeadlines, matchTenders, startDueAlerts].map((job) =>
      schedule(job, {}, { everyMs: MINUTE }),
    ),
    schedule(startDueMailboxes, {}, { everyMs: 10 * SECOND }),
  ],
  mails: [digestMail, instantMail],
  // A read mostly waits for its source: a slow one takes one slot, and others do not wait for it.
  concurrency: { tenders: 20, feeds: quarterEach(20), mailboxes: quarterEach(20) },
  sealedColumns: [
    {
      table: tenderMailboxes,
      column: tenderMailboxes.password,
      boundTo: tenderMailboxes.userId,
      context: alertPasswordContext,
    },
  ],
  cancelAfterRestore: [{ what: 'matches of tenders', cancel: dismissUnsent }],
  retention: [
    {
      // Each feed is read about fifty times a day; its row holds the result of the last read.
      what: 'reads of feeds',
      table: runs,
      isOver: sql`${runs.kind} in (${readFeed.name}, ${readSource.name}) and ${runs.subject} like 'rss:%' and ${runs.finishedAt} < now() - interval '7 days'`,
    },
    {
      what: 'payloads of tenders',
      table: tenderPayloads,
      isOver: sql`${tenderPayloads.storedAt} < now() - interval '30 days'`,
    },
    {
      what: 'matches of tenders',
      table: tenderMatches,
      // No match stays unsent for this long.
      isOver: sql`${tenderMatches.notifiedAt} is not null and ${tenderMatches.matchedAt} < now() - interval '180 days'`,
    },
    {
      what: 'matches of tenders beyond the newest',
      walk: removeSurplusMatches,
    },
    {
      what: 'tenders of personal sources beyond the newest',
      walk: removeSurplusTenders,
    },
    {
      what: 'changes of tenders',
      table: tenderChanges,
      isOver: sql`${tenderChanges.at} < now() - interval '180 days'`,
    },
    {
      what: 'tenders',
      table: tenderRows,
      isOver: sql`${tenderRows.changedAt} < now() - interval '3 years'`,
    },
  ],
  auditActions,
};
