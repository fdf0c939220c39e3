import { sweepFiles } from '@portal/platform/files/jobs';
import type { AnyJob } from '@portal/platform/jobs/job';
import { removeExpired, sweepRuns } from '@portal/platform/operations/jobs';
import { deliverMails, sweepMails } from '@portal/platform/outbox/jobs';
import { discoverIcon } from '../dashboards/jobs.ts';
import { startDueSyncs, syncDirectory } from '../directory/jobs.ts';
import { queueDueMails } from '../reminders/jobs.ts';

/** Every job there is. A worker refuses to start unless it has a handler for each. */
export const allJobs: AnyJob[] = [
  deliverMails,
  sweepMails,
  sweepRuns,
  removeExpired,
  sweepFiles,
  discoverIcon,
  queueDueMails,
  syncDirectory,
  startDueSyncs,
];
