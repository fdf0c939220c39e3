import { and, eq, sql } from 'drizzle-orm';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { tenderSources } from '@portal/db/schema/tenders/sources';
import { newId } from '@portal/domain/ids';
import { imapTarget, isPausedAfter, isSameFolder } from '@portal/domain/imap';
import { type AlertMailbox, AlertMailboxInput } from '@portal/domain/tenders/alert-mailbox';
import { mailboxSource } from '@portal/domain/tenders/sources';
import type { UserContext } from '@portal/platform/context';
import { ReadableCaCertificatePem } from '@portal/platform/readable-certificates';
import { ownScope } from '../list-tenders.ts';
import { storedMailbox, storedPassword } from './stored-mailbox.ts';

/** The input schema, which also parses the CA certificates: text that only looks like PEM is refused. */
export const ReadableAlertMailboxInput = AlertMailboxInput.safeExtend({
  caCertificatePem: ReadableCaCertificatePem,
}).meta(AlertMailboxInput.meta() ?? {});

const unset: AlertMailbox = {
  host: null,
  port: null,
  security: null,
  username: null,
  hasPassword: false,
  folder: null,
  caCertificatePem: null,
  isActive: null,
  isPaused: false,
  lastFetchedAt: null,
  lastError: null,
};

/** The account's mailbox without its password; nulls while nothing is set. */
export async function getAlertMailbox(ctx: UserContext): Promise<AlertMailbox> {
  const [found] = await ownScope(ctx).read((db) =>
    db
      .select({ mailbox: tenderMailboxes, lastFetchedAt: tenderSources.lastSuccessAt })
      .from(tenderMailboxes)
      .leftJoin(tenderSources, eq(tenderSources.key, mailboxSource(ctx.actor.id)))
      .where(eq(tenderMailboxes.userId, ctx.actor.id)),
  );
  if (!found) return unset;
  const { host, port, security, username, password, folder, caCertificatePem, isActive, lastError, refusals } =
    found.mailbox;
  return {
    host,
    port,
    security,
    username,
    hasPassword: password !== null,
    folder,
    caCertificatePem,
    isActive,
    isPaused: isPausedAfter(refusals),
    lastFetchedAt: found.lastFetchedAt,
    lastError,
  };
}

/**
 * Replaces the account's mailbox; the stored password stays unless the input has another one or null. Throws 400 `SECRET_REQUIRED` if the
 * stored password would go to another server or account, or be less well protected. An active mailbox is read at once, even if it was
 * paused; a running read of the old settings can write nothing more. A different mailbox starts again: no mail reports the tenders of its
 * first reading.
 */
export async function putAlertMailbox(ctx: UserContext, input: AlertMailboxInput): Promise<AlertMailbox> {
  const { password, ...fields } = input;
  const userId = ctx.actor.id;
  await ctx.acrossTenants('a mailbox is a source of tenders, of its owner alone', async (tx) => {
    const before = await storedMailbox(tx, userId, 'update');
    const isSame = before !== undefined && isSameFolder(before, fields);
    const values = {
      ...fields,
      // Write a kept password too: otherwise this server could be combined with the password of a concurrent change.
      password: storedPassword(ctx, userId, before).sealedFor(imapTarget(fields), password),
      claim: null,
      nextFetchAt: fields.isActive ? sql`now()` : null,
      refusals: 0,
      lastError: null,
      updatedAt: sql`now()`,
      ...(!isSame && { uidValidity: null, lastUid: null, triedUid: null, tries: 0 }),
    };
    await tx
      .insert(tenderMailboxes)
      .values({ id: newId(), tenantId: ctx.tenantId, userId, ...values })
      .onConflictDoUpdate({ target: [tenderMailboxes.tenantId, tenderMailboxes.userId], set: values });
    const reset = { lastRunAt: null, lastSuccessAt: null, newCount: 0, failures: 0, error: null };
    const key = mailboxSource(userId);
    await tx.insert(tenderSources).values({ key }).onConflictDoNothing();
    if (!isSame) await tx.update(tenderSources).set(reset).where(eq(tenderSources.key, key));
  });
  return getAlertMailbox(ctx);
}

/** Deletes the account's mailbox and its password; the account keeps the tenders found in it. */
export const deleteAlertMailbox = (ctx: UserContext): Promise<void> =>
  ctx.tx(async (tx) => {
    await tx
      .delete(tenderMailboxes)
      .where(and(eq(tenderMailboxes.tenantId, ctx.tenantId), eq(tenderMailboxes.userId, ctx.actor.id)));
  });
