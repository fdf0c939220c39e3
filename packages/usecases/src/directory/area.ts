import { sql } from 'drizzle-orm';
import { ldapConfigs, ldapStagedEntries } from '@portal/db/schema/directory';
import { SECOND } from '@portal/domain/time';
import type { Area } from '@portal/platform/area';
import { quarterEach } from '@portal/platform/jobs/job';
import { schedule } from '@portal/platform/jobs/schedules';
import { auditActions } from './audit.ts';
import { startDueSyncs, syncDirectory } from './jobs.ts';
import { bindPasswordContext } from './stored-ldap-config.ts';

export const directory: Area = {
  name: 'directory',
  tags: { directory: 'The tenant’s directory server: its settings, the mappings, and the synchronization.' },
  jobs: [syncDirectory, startDueSyncs],
  schedules: [schedule(startDueSyncs, {}, { everyMs: 30 * SECOND })],
  // Most of these jobs only wait: another limit bounds how many directories a process reads at once.
  concurrency: { directory: quarterEach(50) },
  retention: [
    {
      what: 'staged entries',
      table: ldapStagedEntries,
      isOver: sql`${ldapStagedEntries.stagedAt} <= now() - interval '1 day'`,
    },
  ],
  sealedColumns: [
    {
      table: ldapConfigs,
      column: ldapConfigs.bindPassword,
      boundTo: ldapConfigs.tenantId,
      context: bindPasswordContext,
    },
  ],
  auditActions,
};
