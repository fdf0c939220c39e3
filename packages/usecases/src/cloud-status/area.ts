import { sql } from 'drizzle-orm';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import { cloudOutages, cloudTransitions } from '@portal/db/schema/cloud-status/outages';
import { MINUTE } from '@portal/domain/time';
import type { Area } from '@portal/platform/area';
import { quarterEach } from '@portal/platform/jobs/job';
import { schedule } from '@portal/platform/jobs/schedules';
import { auditActions } from './audit.ts';
import { checkAllInstances, checkDueInstances, startDueChecks } from './jobs.ts';
import { cloudFailedMail } from './mails/failed.ts';
import { cloudRecoveredMail } from './mails/recovered.ts';

export const cloudStatus: Area = {
  name: 'cloud-status',
  tags: {
    'cloud-status': 'Clouds of customers: their status, their versions, and mails about failures.',
  },
  jobs: [startDueChecks, checkDueInstances, checkAllInstances],
  schedules: [schedule(startDueChecks, {}, { everyMs: MINUTE })],
  // A job checks up to a hundred clouds of one tenant at once. Jobs of other tenants do not wait for it.
  concurrency: { 'cloud-status': quarterEach(20) },
  mails: [cloudFailedMail, cloudRecoveredMail],
  retention: [
    {
      what: 'cloud transitions',
      table: cloudTransitions,
      isOver: sql`${cloudTransitions.at} <= now() - interval '400 days'`,
    },
    {
      what: 'cloud outages',
      table: cloudOutages,
      isOver: sql`${cloudOutages.endedAt} <= now() - interval '400 days'`,
    },
  ],
  files: [{ folder: 'cloud-logos', table: cloudInstances, path: cloudInstances.logoPath }],
  auditActions,
};
