import type { Tx } from '@portal/db/open';
import { newId } from '@portal/domain/ids';
import { queueMail } from '@portal/platform/outbox/queue-mail';
import type { emailChangeRequestedMail } from './mails/email-change-requested.ts';
import type { emailChangedMail } from './mails/email-changed.ts';
import { passwordChangedMail } from './mails/password-changed.ts';

type Addressed = { id: string; tenantId: string; email: string | null };

/** Queues the notice that the account's password was changed, if the account has an address. */
export async function queueChangeNotice(tx: Tx, account: Addressed): Promise<void> {
  if (account.email === null) return;
  await queueMail(tx, passwordChangedMail, {
    tenantId: account.tenantId,
    key: `accounts/password-changed/${newId()}`,
    userId: account.id,
    data: {},
  });
}

/** Queues a notice to the account's old address, if it had one: that a change was requested, or was made. */
export async function queueEmailNotice(
  tx: Tx,
  mail: typeof emailChangeRequestedMail | typeof emailChangedMail,
  before: Addressed,
): Promise<void> {
  if (before.email === null) return;
  await queueMail(tx, mail, {
    tenantId: before.tenantId,
    key: `${mail.kind}/${newId()}`,
    userId: before.id,
    data: { address: before.email },
  });
}
