import type { Tx } from '@portal/db/open';
import { newId } from '@portal/domain/ids';
import { queueMail } from '../mails/queue-mail.ts';

/** Promises the account a notice that its password was changed, if it has an address; without a link, so that a forged one is easy to tell. */
export async function queueChangeNotice(
  tx: Tx,
  account: { id: string; tenantId: string; email: string | null },
): Promise<void> {
  if (account.email === null) return;
  await queueMail(tx, {
    tenantId: account.tenantId,
    kind: 'accounts/password-changed',
    key: `accounts/password-changed/${newId()}`,
    userId: account.id,
    data: {},
  });
}
