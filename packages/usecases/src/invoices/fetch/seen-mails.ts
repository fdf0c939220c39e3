import { createHash } from 'node:crypto';
import { and, asc, eq, inArray, isNotNull, isNull, max, ne, or, sql } from 'drizzle-orm';
import type { MailHead } from '@portal/connectors/imap/mailbox';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { invoiceFiles, invoiceMails, invoices } from '@portal/db/schema/invoices';
import { newId } from '@portal/domain/ids';
import { mailMaxBytes } from '@portal/domain/invoices/limits';
import { type Fetching, whileCurrent } from './fetching.ts';

/** The target folder of a settled mail. */
export type MailTarget = 'processed' | 'failed';

/** The outcome of a mail; `nothing` means it has no documents. */
export type MailOutcome = MailTarget | 'nothing';

const ofThisFolder = ({ mailbox, uidValidity }: Fetching) =>
  and(eq(invoiceMails.boxId, mailbox.boxId), eq(invoiceMails.uidValidity, uidValidity));

/** Mails seen under other UIDs: in another mailbox, or before the server renumbered the folder. */
const ofOtherFolders = ({ mailbox, uidValidity }: Fetching) =>
  or(ne(invoiceMails.boxId, mailbox.boxId), ne(invoiceMails.uidValidity, uidValidity));

const seen = prepared<{ boxId: string; uidValidity: string }>()('invoice_mails_seen', (db) => {
  const here = and(
    eq(invoiceMails.boxId, sql.placeholder('boxId')),
    eq(invoiceMails.uidValidity, sql.placeholder('uidValidity')),
  );
  const last = db
    .select({ uid: max(invoiceMails.uid) })
    .from(invoiceMails)
    .where(here);
  const unsettled = db
    .select({ uids: sql`array_agg(${invoiceMails.uid}::float8 order by ${invoiceMails.uid})` })
    .from(invoiceMails)
    .where(and(here, eq(invoiceMails.isSettled, false)));
  return db
    .select({
      lastUid: sql<number>`coalesce((${last}), 0)::float8`.as('last_uid'),
      unsettled: sql<number[]>`coalesce((${unsettled}), '{}')`.as('unsettled'),
    })
    .from(sql`(select 1) as one`);
});

/** The last UID seen, and the earlier mails that the server has not delivered yet. */
export async function seenSoFar({
  ctx,
  mailbox,
  uidValidity,
}: Fetching): Promise<{ lastUid: number; unsettled: number[] }> {
  const [row] = await ctx.run(seen, { boxId: mailbox.boxId, uidValidity });
  return row ?? { lastUid: 0, unsettled: [] };
}

/**
 * Recognizes a mail whose UID has changed, by Message-ID, date, sender and subject. The Message-ID alone is not enough, because some
 * programs use one for all their mails. The size replaces a missing Message-ID. Different mails can still share a fingerprint.
 */
export function fingerprintOf({ messageId, date, from, subject, sizeBytes }: MailHead): Buffer {
  const parts = [messageId ?? sizeBytes, date?.toISOString() ?? null, from, subject];
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

/** Mails beyond this size are never downloaded. */
export const isTooLarge = ({ sizeBytes }: MailHead): boolean => sizeBytes > mailMaxBytes;

/** True for the placeholder of an undelivered mail: every other failed invoice has a file. */
const isUnread = sql<boolean>`(${invoices.error} is not null and not exists (
  select from ${invoiceFiles} f where f.tenant_id = ${invoices.tenantId} and f.invoice_id = ${invoices.id}))`;

/**
 * The outcomes of those mails that were seen in another mailbox or before the server renumbered the folder, by fingerprint in hexadecimal.
 * Within one numbering, two UIDs are two mails, even with equal fingerprints. Undelivered mails are left out, because the server may
 * deliver them now; mails that are too large are included.
 */
export async function knownOutcomes(fetching: Fetching, heads: MailHead[]): Promise<Map<string, MailOutcome>> {
  if (heads.length === 0) return new Map();
  const rows = await fetching.ctx.read((db) =>
    db
      .select({
        fingerprint: invoiceMails.fingerprint,
        hasInvoice: sql<boolean>`bool_or(${invoices.id} is not null)`,
        hasFailed: sql<boolean>`coalesce(bool_or(${invoices.error} is not null), false)`,
        isUnread: sql<boolean>`coalesce(bool_or(${isUnread}), false)`,
      })
      .from(invoiceMails)
      .leftJoin(invoices, and(eq(invoices.tenantId, invoiceMails.tenantId), eq(invoices.mailId, invoiceMails.id)))
      .where(
        and(
          eq(invoiceMails.isSettled, true),
          inArray(invoiceMails.fingerprint, heads.map(fingerprintOf)),
          ofOtherFolders(fetching),
        ),
      )
      .groupBy(invoiceMails.fingerprint),
  );
  const tooLarge = new Set(heads.filter(isTooLarge).map((head) => fingerprintOf(head).toString('hex')));
  return new Map(
    rows
      .map(({ fingerprint, ...row }) => ({ ...row, print: fingerprint.toString('hex') }))
      .filter((row) => !row.isUnread || tooLarge.has(row.print))
      .map(({ print, hasInvoice, hasFailed }) => [print, hasFailed ? 'failed' : hasInvoice ? 'processed' : 'nothing']),
  );
}

/**
 * Deletes the placeholders of undelivered mails that have come again. A placeholder stays while its mail is still in this folder, because
 * the new mail is then a different one.
 */
export async function forgetUnread(tx: Tx, fetching: Fetching, heads: MailHead[]): Promise<void> {
  const returned = heads.filter((head) => !isTooLarge(head)).map(fingerprintOf);
  if (returned.length === 0) return;
  const wasMoved = folderFor(fetching, 'failed') === null ? undefined : isNull(invoiceMails.moveTo);
  const mails = tx
    .select({ id: invoiceMails.id })
    .from(invoiceMails)
    .where(
      and(
        eq(invoiceMails.isSettled, true),
        inArray(invoiceMails.fingerprint, returned),
        or(ofOtherFolders(fetching), wasMoved),
      ),
    );
  await tx.delete(invoices).where(and(inArray(invoices.mailId, mails), isUnread));
}

/** The row of a settled mail. */
export const settledMail = (fetching: Fetching, head: MailHead, outcome: MailOutcome) => ({
  id: newId(),
  tenantId: fetching.ctx.tenantId,
  boxId: fetching.mailbox.boxId,
  uidValidity: fetching.uidValidity,
  uid: head.uid,
  fingerprint: fingerprintOf(head),
  isSettled: true,
  moveTo: outcome !== 'nothing' && folderFor(fetching, outcome) !== null ? outcome : null,
});

/** The target folder for this outcome; null if the mails stay where they are. */
export const folderFor = ({ mailbox }: Pick<Fetching, 'mailbox'>, target: MailTarget): string | null =>
  target === 'failed' ? mailbox.failedFolder : mailbox.processedFolder;

/** Settles the row of a mail that could not be read before. */
export const overUnsettled = {
  target: [invoiceMails.tenantId, invoiceMails.boxId, invoiceMails.uidValidity, invoiceMails.uid],
  set: { isSettled: true, moveTo: sql`excluded.move_to` },
  setWhere: eq(invoiceMails.isSettled, false),
};

/** Counts an attempt in which the server did not deliver a mail. Returns the number of attempts. */
export async function noteTry(fetching: Fetching, head: MailHead): Promise<number> {
  return whileCurrent(fetching, async (tx) => {
    const [row] = await tx
      .insert(invoiceMails)
      .values({ ...settledMail(fetching, head, 'nothing'), isSettled: false, tries: 1 })
      .onConflictDoUpdate({ ...overUnsettled, set: { tries: sql`${invoiceMails.tries} + 1` } })
      .returning({ tries: invoiceMails.tries });
    return row?.tries ?? 0;
  });
}

/** Deletes the rows of mails that left the folder unread. If one comes back, it is new. */
export const forgetUnsettled = (fetching: Fetching, uids: number[]): Promise<void> =>
  whileCurrent(fetching, async (tx) => {
    await tx
      .delete(invoiceMails)
      .where(and(ofThisFolder(fetching), inArray(invoiceMails.uid, uids), eq(invoiceMails.isSettled, false)));
  });

/** At most `limit` mails that still have to be moved, with their targets. */
export async function mailsToMove(fetching: Fetching, limit: number): Promise<{ uid: number; moveTo: MailTarget }[]> {
  const rows = await fetching.ctx.read((db) =>
    db
      .select({ uid: invoiceMails.uid, moveTo: invoiceMails.moveTo })
      .from(invoiceMails)
      .where(and(ofThisFolder(fetching), isNotNull(invoiceMails.moveTo)))
      .orderBy(asc(invoiceMails.uid))
      .limit(limit),
  );
  return rows.flatMap(({ uid, moveTo }) => (moveTo === null ? [] : [{ uid, moveTo }]));
}

export const rememberMoved = (fetching: Fetching, uids: number[]): Promise<void> =>
  whileCurrent(fetching, async (tx) => {
    await tx
      .update(invoiceMails)
      .set({ moveTo: null })
      .where(and(ofThisFolder(fetching), inArray(invoiceMails.uid, uids)));
  });
