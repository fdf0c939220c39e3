import { sql } from 'drizzle-orm';
import { runs } from '@portal/db/schema/platform/operations';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { tenderChanges, tenderMatches } from '@portal/db/schema/tenders/matches';
import { tenderPayloads, tenders as tenderRows } from '@portal/db/schema/tenders/notices';
import { MINUTE, SECOND } from '@portal/domain/time';
import type { Area } from '@portal/platform/area';
import { quarterEach } from '@portal/platform/jobs/job';
import { schedule } from '@portal/platform/jobs/schedules';
import { dismissUnsent } from './alerts/dismiss-unsent.ts';
import { digestMail } from './alerts/mails/digest.ts';
import { instantMail } from './alerts/mails/instant.ts';
import { removeSurplusMatches } from './alerts/match-state.ts';
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
  // A look mostly waits for its source: a long one takes one place, and others need not wait for it.
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
      // Each feed is looked at some fifty times a day; what became of the last look stands in its row.
      what: 'looks at feeds',
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
      // Nothing is owed for as long.
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
