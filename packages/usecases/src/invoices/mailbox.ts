import { sql } from 'drizzle-orm';
import { invoiceMailboxes } from '@portal/db/schema/invoices';
import { newId } from '@portal/domain/ids';
import { type ImapFolder, imapTarget, isPausedAfter, isSameFolder } from '@portal/domain/imap';
import { type InvoiceMailbox, InvoiceMailboxInput } from '@portal/domain/invoices/mailbox';
import type { UserContext } from '@portal/platform/context';
import { ReadableCaCertificatePem } from '@portal/platform/readable-certificates';
import { recordAudit } from './audit.ts';
import { invoiceStorage } from './storage.ts';
import { storedMailbox, storedPassword } from './stored-mailbox.ts';

/** The input schema, with its CA certificates parsed: text that only looks like PEM is refused. */
export const ReadableMailboxInput = InvoiceMailboxInput.safeExtend({ caCertificatePem: ReadableCaCertificatePem }).meta(
  InvoiceMailboxInput.meta() ?? {},
);

const unset: Omit<InvoiceMailbox, 'storedBytes' | 'maxStoredBytes'> = {
  host: null,
  port: null,
  security: null,
  username: null,
  hasPassword: false,
  folder: null,
  caCertificatePem: null,
  isActive: null,
  isPaused: false,
  processedFolder: null,
  failedFolder: null,
  lastFetchedAt: null,
  lastError: null,
};

/** The tenant's mailbox without its password; fields are null while nothing is set. */
export async function getInvoiceMailbox(ctx: UserContext): Promise<InvoiceMailbox> {
  const [stored, storage] = await Promise.all([ctx.read((db) => storedMailbox(db)), invoiceStorage(ctx)]);
  const settings = stored
    ? { ...stored, hasPassword: stored.password !== null, isPaused: isPausedAfter(stored.refusals) }
    : unset;
  return { ...settings, ...storage };
}

/**
 * Replaces the tenant's mailbox. The stored password stays unless the input has a new one or null. Throws 400 `SECRET_REQUIRED` if the
 * stored password would go to another server or account, or over a weaker connection. An active mailbox is due at once, even if it was
 * paused. A fetch that began with the old settings writes nothing more.
 */
export async function putInvoiceMailbox(ctx: UserContext, input: InvoiceMailboxInput): Promise<InvoiceMailbox> {
  const { password, ...fields } = input;
  await ctx.tx(async (tx) => {
    const before = await storedMailbox(tx, 'update');
    const isSame = before !== undefined && isSameFolder(before, fields);
    const values = {
      ...fields,
      // Also writes a stored password: this server must not be combined with the password of a concurrent change.
      password: storedPassword(ctx, before).sealedFor(imapTarget(fields), password),
      boxId: isSame ? before.boxId : newId(),
      nextFetchAt: fields.isActive ? sql`now()` : null,
      refusals: 0,
      lastError: null,
      updatedAt: sql`now()`,
      ...(!isSame && { lastFetchedAt: null }),
    };
    await tx
      .insert(invoiceMailboxes)
      .values({ id: newId(), tenantId: ctx.tenantId, ...values })
      .onConflictDoUpdate({
        target: invoiceMailboxes.tenantId,
        set: { ...values, revision: sql`${invoiceMailboxes.revision} + 1` },
      });
    const isMoved = before !== undefined && !isSame;
    await recordAudit(tx, ctx, {
      action: 'invoice_mailbox.update',
      tenantId: ctx.tenantId,
      summary: `Changed the invoice mailbox: ${shown(fields)}${isMoved ? `, previously ${shown(before)}` : ''}, ${
        fields.isActive ? 'switched on' : 'switched off'
      }.`,
    });
  });
  return getInvoiceMailbox(ctx);
}

/** Deletes the mailbox and its password; the invoices stay. */
export async function deleteInvoiceMailbox(ctx: UserContext): Promise<void> {
  await ctx.tx(async (tx) => {
    const deleted = await tx.delete(invoiceMailboxes).returning({ host: invoiceMailboxes.host });
    if (deleted.length === 0) return;
    await recordAudit(tx, ctx, {
      action: 'invoice_mailbox.delete',
      tenantId: ctx.tenantId,
      summary: `Deleted the invoice mailbox at ${deleted[0]?.host}.`,
    });
  });
}

const shown = ({ host, port, username, folder }: ImapFolder): string =>
  `folder ${folder} of ${username} at ${host}:${port}`;
