import { sql } from 'drizzle-orm';
import { monitoredServers, serverHistory } from '@portal/db/schema/monitoring/servers';
import { historyDays } from '@portal/domain/monitoring/history';
import { SECOND } from '@portal/domain/time';
import type { Area } from '@portal/platform/area';
import { schedule } from '@portal/platform/jobs/schedules';
import { auditActions } from './audit.ts';
import { pollServers, startDuePolls } from './jobs.ts';
import { secretContext } from './stored-server.ts';

export const monitoring: Area = {
  name: 'monitoring',
  tags: { virtualization: 'Virtualization, backup and mail gateway servers and their status.' },
  jobs: [pollServers, startDuePolls],
  schedules: [schedule(startDuePolls, {}, { everyMs: 10 * SECOND })],
  // A run mostly waits for servers. The number of servers polled at once is limited per process.
  concurrency: { monitoring: 100 },
  retention: [
    {
      what: 'server history',
      table: serverHistory,
      isOver: sql`${serverHistory.at} <= now() - make_interval(days => ${historyDays})`,
    },
  ],
  sealedColumns: (['tokenSecret', 'password'] as const).map((field) => ({
    table: monitoredServers,
    column: monitoredServers[field],
    boundTo: monitoredServers.id,
    context: secretContext(field),
  })),
  auditActions,
};
