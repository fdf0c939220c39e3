import { SECOND } from '@portal/domain/time';
import { handle } from '@portal/platform/jobs/handler';
import { schedule } from '@portal/platform/jobs/schedules';
import type { Metrics } from '@portal/platform/metrics';
import { deliverDueMails } from '@portal/platform/outbox/deliver-due-mails';
import { deliverMails, sweepMails } from '@portal/platform/outbox/jobs';
import { nudgeDueTenants } from '@portal/platform/outbox/nudge-due-tenants';

export const mailHandlers = ({ countMail }: Metrics) => [
  handle(deliverMails, (ctx, _payload, { signal }) => deliverDueMails(ctx, { signal, countMail })),
  handle(sweepMails, (visit, _payload, { signal }) => nudgeDueTenants(visit, signal)),
];

export const mailSchedules = [schedule(sweepMails, {}, { everyMs: 10 * SECOND })];
