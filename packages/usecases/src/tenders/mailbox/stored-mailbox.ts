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

/** The mailbox row of an account with its sealed password; undefined if there is none. `update` locks it until the transaction ends. */
export async function storedMailbox(
  db: Pick<Tx, 'select'>,
  userId: string,
  lock?: 'update',
): Promise<StoredMailbox | undefined> {
  const query = db.select().from(tenderMailboxes).where(eq(tenderMailboxes.userId, userId));
  const [row] = await (lock ? query.for(lock) : query);
  return row;
}

/** Binds a sealed password to its row, so that it cannot be moved to another account. */
export const alertPasswordContext = (userId: string): string => `tender_mailboxes.password:${userId}`;

/** The stored password of an account's mailbox. */
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

/** The server of an account's mailbox with these settings, limited to addresses that users may enter. Throws like `imapServerAt`. */
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
