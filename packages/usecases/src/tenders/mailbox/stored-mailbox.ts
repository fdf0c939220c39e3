import { eq } from 'drizzle-orm';
import type { ImapServer } from '@portal/connectors/imap/mailbox';
import type { Tx } from '@portal/db/open';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { type ImapSettings, imapTarget } from '@portal/domain/imap';
import type { SecretInput } from '@portal/domain/secret-input';
import type { TenantContext } from '@portal/platform/context';
import type { StoredSecret } from '@portal/platform/secrets/stored-secret';
import { imapServerAt } from '../../mailboxes/imap-server.ts';

export type StoredMailbox = typeof tenderMailboxes.$inferSelect;

/** The row of an account, its password sealed; undefined while nothing is set. Locked until the transaction ends when it is about to change. */
export async function storedMailbox(
  db: Pick<Tx, 'select'>,
  userId: string,
  lock?: 'update',
): Promise<StoredMailbox | undefined> {
  const query = db.select().from(tenderMailboxes).where(eq(tenderMailboxes.userId, userId));
  const [row] = await (lock ? query.for(lock) : query);
  return row;
}

/** Binds a sealed password to its place, so that it cannot be carried to another account's row. */
export const alertPasswordContext = (userId: string): string => `tender_mailboxes.password:${userId}`;

/** The password of an account's mailbox as its row has it. */
export const storedPassword = (
  { secrets }: Pick<TenantContext, 'secrets'>,
  userId: string,
  stored: StoredMailbox | undefined,
): StoredSecret =>
  secrets.at({
    context: alertPasswordContext(userId),
    field: 'password',
    sealed: stored?.password ?? null,
    target: stored ? imapTarget(stored) : null,
  });

/** How an account's mailbox is reached with these settings, at the addresses plain users may name. Throws like `imapServerAt`. */
export const imapServerWith = (
  ctx: Pick<TenantContext, 'tenantId' | 'secrets' | 'log' | 'config'>,
  { userId, stored }: { userId: string; stored: StoredMailbox | undefined },
  settings: ImapSettings,
  input?: SecretInput,
): ImapServer =>
  imapServerAt(ctx, settings, {
    stored: storedPassword(ctx, userId, stored),
    input,
    policy: ctx.config.outbound.byUsers,
  });
