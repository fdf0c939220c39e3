import { sql } from 'drizzle-orm';
import { tenderPayloads, tenders as tenderRows } from '@portal/db/schema/tenders/notices';
import { MINUTE } from '@portal/domain/time';
import type { Area } from '@portal/platform/area';
import { handle } from '@portal/platform/jobs/handler';
import { schedule } from '@portal/platform/jobs/schedules';
import { auditActions } from './audit.ts';
import { passDeadlines, readSource, startDueSources } from './jobs.ts';

export const tenders: Area = {
  name: 'tenders',
  tags: { tenders: 'Public tenders: which there are, where they come from, and what people note of them.' },
  jobs: [
    handle(readSource, async (system, { source }, work) => {
      const { readTenderSource } = await import('./ingest/read-source.ts');
      await readTenderSource(system, source, work);
    }),
    handle(startDueSources, async (system) => {
      const { startDueTenderSources } = await import('./ingest/start-due-sources.ts');
      await startDueTenderSources(system);
    }),
    handle(passDeadlines, async (system, _payload, { signal }) => {
      const { passTenderDeadlines } = await import('./ingest/pass-deadlines.ts');
      await passTenderDeadlines(system, signal);
    }),
  ],
  schedules: [schedule(startDueSources, {}, { everyMs: MINUTE }), schedule(passDeadlines, {}, { everyMs: MINUTE })],
  // A look mostly waits for its source: a long one takes one place, and others need not wait for it.
  concurrency: { tenders: 20 },
  retention: [
    {
      what: 'payloads of tenders',
      table: tenderPayloads,
      id: tenderPayloads.noticeId,
      isOver: sql`${tenderPayloads.storedAt} < now() - interval '30 days'`,
    },
    {
      what: 'tenders',
      table: tenderRows,
      id: tenderRows.id,
      isOver: sql`${tenderRows.changedAt} < now() - interval '3 years'`,
    },
  ],
  auditActions,
};
