import { and, eq, sql } from 'drizzle-orm';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { tenderSources } from '@portal/db/schema/tenders/sources';
import { newId } from '@portal/domain/ids';
import { imapTarget, isPausedAfter, isSameBox } from '@portal/domain/imap';
import { type AlertMailbox, AlertMailboxInput } from '@portal/domain/tenders/alert-mailbox';
import { mailboxSource } from '@portal/domain/tenders/sources';
import type { UserContext } from '@portal/platform/context';
import { ReadableCaCertificatePem } from '@portal/platform/readable-certificates';
import { ownScope } from '../list-tenders.ts';
import { storedMailbox, storedPassword } from './stored-mailbox.ts';

/** The input schema, with its CA certificates parsed: text that only looks like PEM is refused. */
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
 * Replaces the account's mailbox; the stored password stays unless another one or null is given. Throws 400 `SECRET_REQUIRED` where it
 * would go to another server or account, or less well protected. An active one is read right away, also one that was left alone; whoever
 * reads it as it was before writes nothing any more. Another mailbox begins anew: nobody is told at once of what is in it already.
 */
export async function putAlertMailbox(ctx: UserContext, input: AlertMailboxInput): Promise<AlertMailbox> {
  const { password, ...fields } = input;
  const userId = ctx.actor.id;
  await ctx.acrossTenants('a mailbox is a source of tenders, of its owner alone', async (tx) => {
    const before = await storedMailbox(tx, userId, 'update');
    const isSame = before !== undefined && isSameBox(before, fields);
    const values = {
      ...fields,
      // The kept one is written too: a server from here and a password from a change in between must not meet.
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
    const anew = { lastRunAt: null, lastSuccessAt: null, newCount: 0, failures: 0, error: null };
    const key = mailboxSource(userId);
    await tx.insert(tenderSources).values({ key }).onConflictDoNothing();
    if (!isSame) await tx.update(tenderSources).set(anew).where(eq(tenderSources.key, key));
  });
  return getAlertMailbox(ctx);
}

/** Forgets the account's mailbox, its password with it; the tenders it brought stay the account's. */
export const deleteAlertMailbox = (ctx: UserContext): Promise<void> =>
  ctx.tx(async (tx) => {
    await tx
      .delete(tenderMailboxes)
      .where(and(eq(tenderMailboxes.tenantId, ctx.tenantId), eq(tenderMailboxes.userId, ctx.actor.id)));
  });
