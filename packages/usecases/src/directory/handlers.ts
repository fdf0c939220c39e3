import { type Handler, handle } from '@portal/platform/jobs/handler';
import { startDueSyncs, syncDirectory } from './jobs.ts';
import { startDueDirectorySyncs } from './start-due-syncs.ts';
import { syncTenantDirectory } from './sync/sync-directory.ts';

export const directoryHandlers: Handler[] = [
  handle(syncDirectory, (ctx, payload, work) => syncTenantDirectory(ctx, payload, work)),
  handle(startDueSyncs, startDueDirectorySyncs),
];
