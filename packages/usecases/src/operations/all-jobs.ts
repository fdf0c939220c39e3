import { discoverIcon } from '../dashboards/jobs.ts';
import { startDueSyncs, syncDirectory } from '../directory/jobs.ts';
import { sweepFiles } from '../files/jobs.ts';
import { deliverMails, sweepMails } from '../mails/jobs.ts';
import { queueDueMails } from '../reminders/jobs.ts';
import type { AnyJob } from '../run/jobs.ts';
import { removeExpired, sweepRuns } from './jobs.ts';

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
