import { type Handler, handle } from '@portal/platform/jobs/handler';
import { pollServers, startDuePolls } from './jobs.ts';
import { pollTenantServers } from './run/poll-tenant-servers.ts';
import { startDueServerPolls } from './start-due-polls.ts';

export const monitoringHandlers: Handler[] = [
  handle(pollServers, (ctx, _payload, work) => pollTenantServers(ctx, work)),
  handle(startDuePolls, startDueServerPolls),
];
