import type { TenantScope } from '@portal/db/open';
import { together } from '../together.ts';
import { type ClaimedMail, type Settlement, settleMails } from './outbox.ts';

/**
 * Settles mails of one tenant: those whose try ends while a transaction is under way share the next one, so that a busy outbox
 * takes a commit for several mails and a quiet one waits for nobody. Says of each mail whether it was still ours.
 */
export function settleTogether(scope: TenantScope): (mail: ClaimedMail, settlement: Settlement) => Promise<boolean> {
  const settle = together(async (batch: { mail: ClaimedMail; settlement: Settlement }[]) => {
    const ours = await settleMails(scope, batch);
    return batch.map(({ mail }) => ours.has(mail.id));
  });
  return (mail, settlement) => settle({ mail, settlement });
}
