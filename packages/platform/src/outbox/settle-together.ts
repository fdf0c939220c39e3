import type { TenantScope } from '@portal/db/open';
import { together } from '../together.ts';
import { type ClaimedMail, type Settlement, settleMails } from './outbox.ts';

/** Settles mails of one tenant, several in a transaction where there are several, and says of each whether it was still ours. */
export function settleTogether(scope: TenantScope): (mail: ClaimedMail, settlement: Settlement) => Promise<boolean> {
  const settle = together(async (batch: { mail: ClaimedMail; settlement: Settlement }[]) => {
    const ours = await settleMails(scope, batch);
    return batch.map(({ mail }) => ours.has(mail.id));
  });
  return (mail, settlement) => settle({ mail, settlement });
}
