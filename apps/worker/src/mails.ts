import { SECOND } from '@portal/domain/time';
import { deliverDueMails } from '@portal/usecases/mails/deliver-due-mails';
import { deliverMails, sweepMails } from '@portal/usecases/mails/jobs';
import { nudgeDueTenants } from '@portal/usecases/mails/nudge-due-tenants';
import { handle } from '@portal/usecases/run/handler';
import type { Metrics } from '@portal/usecases/run/metrics';
import { schedule } from '@portal/usecases/run/schedules';

export const mailHandlers = ({ countMail }: Metrics) => [
  handle(deliverMails, (ctx, _payload, { signal }) => deliverDueMails(ctx, { signal, countMail })),
  handle(sweepMails, (visit, _payload, { signal }) => nudgeDueTenants(visit, signal)),
];

export const mailSchedules = [schedule(sweepMails, {}, { everyMs: 10 * SECOND })];
