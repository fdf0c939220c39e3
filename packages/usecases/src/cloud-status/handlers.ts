import { type Handler, handle } from '@portal/platform/jobs/handler';
import { checkAllCloudInstances, checkDueCloudInstances, startDueCloudChecks } from './check-by-job.ts';
import { checkAllInstances, checkDueInstances, startDueChecks } from './jobs.ts';

export const cloudStatusHandlers: Handler[] = [
  handle(startDueChecks, startDueCloudChecks),
  handle(checkDueInstances, (ctx, _payload, work) => checkDueCloudInstances(ctx, work)),
  handle(checkAllInstances, (ctx, _payload, work) => checkAllCloudInstances(ctx, work)),
];
