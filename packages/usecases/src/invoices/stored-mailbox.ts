import type { ImapServer } from '@portal/connectors/imap/mailbox';
import type { Tx } from '@portal/db/open';
import { invoiceMailboxes } from '@portal/db/schema/invoices';
import { type ImapSettings, imapTarget } from '@portal/domain/imap';
import type { SecretInput } from '@portal/domain/secret-input';
import type { TenantContext } from '@portal/platform/context';
import type { StoredSecret } from '@portal/platform/secrets/stored-secret';
import { imapServerAt } from '../mailboxes/imap-server.ts';

/**
 * The current tenant's row with its sealed password; undefined while nothing is set. Row policies hide the rows of other tenants. Pass
 * `lock` before a change: the row then stays locked until the transaction ends.
 */
export async function storedMailbox(db: Pick<Tx, 'select'>, lock?: 'update') {
  const query = db
    .select({
      id: invoiceMailboxes.id,
      host: invoiceMailboxes.host,
      port: invoiceMailboxes.port,
      security: invoiceMailboxes.security,
      username: invoiceMailboxes.username,
      password: invoiceMailboxes.password,
      folder: invoiceMailboxes.folder,
      caCertificatePem: invoiceMailboxes.caCertificatePem,
      isActive: invoiceMailboxes.isActive,
      processedFolder: invoiceMailboxes.processedFolder,
      failedFolder: invoiceMailboxes.failedFolder,
      boxId: invoiceMailboxes.boxId,
      revision: invoiceMailboxes.revision,
      refusals: invoiceMailboxes.refusals,
      lastFetchedAt: invoiceMailboxes.lastFetchedAt,
      lastError: invoiceMailboxes.lastError,
    })
    .from(invoiceMailboxes);
  const [row] = await (lock ? query.for(lock) : query);
  return row;
}

export type StoredMailbox = NonNullable<Awaited<ReturnType<typeof storedMailbox>>>;

/** Binds a sealed password to its row, so that a copy in another tenant's row cannot be opened. */
export const invoicePasswordContext = (tenantId: string): string => `invoice_mailboxes.password:${tenantId}`;

type SecretsOfTenant = Pick<TenantContext, 'tenantId' | 'secrets' | 'log' | 'config'>;

/** The stored password of the current tenant. */
export const storedPassword = (
  { tenantId, secrets }: Pick<SecretsOfTenant, 'tenantId' | 'secrets'>,
  stored: StoredMailbox | undefined,
): StoredSecret =>
  secrets.at({
    context: invoicePasswordContext(tenantId),
    field: 'password',
    sealed: stored?.password ?? null,
    target: stored ? imapTarget(stored) : null,
  });

/** The server of the tenant's mailbox with these settings. Throws like `imapServerAt`. */
export const imapServerWith = (
  ctx: SecretsOfTenant,
  stored: StoredMailbox | undefined,
  settings: ImapSettings,
  input?: SecretInput,
): ImapServer =>
  imapServerAt(ctx, settings, { stored: storedPassword(ctx, stored), input, policy: ctx.config.outbound.byAdmins });
