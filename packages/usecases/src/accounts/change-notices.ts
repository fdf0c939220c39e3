import type { Tx } from '@portal/db/open';
import { newId } from '@portal/domain/ids';
import { queueMail } from '@portal/platform/outbox/queue-mail';
import type { emailChangeRequestedMail } from './mails/email-change-requested.ts';
import type { emailChangedMail } from './mails/email-changed.ts';
import { passwordChangedMail } from './mails/password-changed.ts';

type Addressed = { id: string; tenantId: string; email: string | null };

/** Promises the account a notice that its password was changed, if it has an address; without a link, so that a forged one is easy to tell. */
export async function queueChangeNotice(tx: Tx, account: Addressed): Promise<void> {
  if (account.email === null) return;
  await queueMail(tx, passwordChangedMail, {
    tenantId: account.tenantId,
    key: `accounts/password-changed/${newId()}`,
    userId: account.id,
    data: {},
  });
}

/** The same to an account's old address, if it had one: that another is to take its place, or has taken it. */
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
