import { SECOND } from '@portal/domain/time';
import { handle } from '@portal/platform/jobs/handler';
import { schedule } from '@portal/platform/jobs/schedules';
import { startDueSyncs, syncDirectory } from '@portal/usecases/directory/jobs';
import { startDueDirectorySyncs } from '@portal/usecases/directory/start-due-syncs';
import { syncTenantDirectory } from '@portal/usecases/directory/sync/sync-directory';

export const directoryHandlers = [
  handle(syncDirectory, syncTenantDirectory),
  handle(startDueSyncs, (visit) => startDueDirectorySyncs(visit)),
];

export const directorySchedules = [schedule(startDueSyncs, {}, { everyMs: 30 * SECOND })];
