import { type Area, mailsOf } from '../area.ts';
import { type Handler, handle } from '../jobs/handler.ts';
import { deliverDueMails } from './deliver-due-mails.ts';
import { deliverMails, sweepMails } from './jobs.ts';
import { nudgeDueTenants } from './nudge-due-tenants.ts';

export function outboxHandlers(areas: readonly Area[]): Handler[] {
  const kinds = mailsOf(areas);
  return [
    handle(deliverMails, (ctx, _payload, { signal }) => deliverDueMails(ctx, { kinds, signal })),
    handle(sweepMails, (ctx, _payload, { signal }) => nudgeDueTenants(ctx, signal)),
  ];
}
