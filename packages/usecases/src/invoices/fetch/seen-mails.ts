import { createHash } from 'node:crypto';
import { and, asc, eq, inArray, isNotNull, isNull, max, ne, or, sql } from 'drizzle-orm';
import type { MailHead } from '@portal/connectors/imap/mailbox';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { invoiceFiles, invoiceMails, invoices } from '@portal/db/schema/invoices';
import { newId } from '@portal/domain/ids';
import { mailMaxBytes } from '@portal/domain/invoices/limits';
import { type Fetching, whileCounting } from './fetching.ts';

/** Where mails go once they are dealt with. */
export type MailTarget = 'processed' | 'failed';

/** How a mail ended. */
export type MailOutcome = MailTarget | 'nothing';

const ofThisFolder = ({ mailbox, uidValidity }: Fetching) =>
  and(eq(invoiceMails.boxId, mailbox.boxId), eq(invoiceMails.uidValidity, uidValidity));

/** Mails that were seen under other UIDs: in another mailbox, or before the folder was numbered anew. */
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

/** The last UID that was seen, and mails before it that the server did not hand over yet. */
export async function seenSoFar({
  ctx,
  mailbox,
  uidValidity,
}: Fetching): Promise<{ lastUid: number; unsettled: number[] }> {
  const [row] = await ctx.run(seen, { boxId: mailbox.boxId, uidValidity });
  return row ?? { lastUid: 0, unsettled: [] };
}

/**
 * By what a mail is recognized where its UID is another one: its Message-ID, and since some programs use one for all of their mails, what
 * else its sender says. Without one its size helps. Two mails may still have the same.
 */
export function fingerprintOf({ messageId, date, from, subject, sizeBytes }: MailHead): Buffer {
  const told = [messageId ?? sizeBytes, date?.toISOString() ?? null, from, subject];
  return createHash('sha256').update(JSON.stringify(told)).digest();
}

/** Whether a mail is one that is never downloaded. */
export const isTooLarge = ({ sizeBytes }: MailHead): boolean => sizeBytes > mailMaxBytes;

/** Whether an invoice stands for a mail that could not be had: of every other one there is a file. */
const isUnread = sql<boolean>`(${invoices.error} is not null and not exists (
  select from ${invoiceFiles} f where f.tenant_id = ${invoices.tenantId} and f.invoice_id = ${invoices.id}))`;

/**
 * How those of these mails ended that were seen in another mailbox or before the folder was numbered anew, by their fingerprints in
 * hexadecimal. Within one numbering two UIDs are two mails, however alike. One that could not be had is not among them, for now it may
 * be; one that is too large still is.
 */
export async function knownOutcomes(fetching: Fetching, heads: MailHead[]): Promise<Map<string, MailOutcome>> {
  if (heads.length === 0) return new Map();
  const rows = await fetching.ctx.read((db) =>
    db
      .select({
        fingerprint: invoiceMails.fingerprint,
        kept: sql<boolean>`bool_or(${invoices.id} is not null)`,
        failed: sql<boolean>`coalesce(bool_or(${invoices.error} is not null), false)`,
        unread: sql<boolean>`coalesce(bool_or(${isUnread}), false)`,
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
      .filter(({ print, unread }) => !unread || tooLarge.has(print))
      .map(({ print, kept, failed }) => [print, failed ? 'failed' : kept ? 'processed' : 'nothing']),
  );
}

/**
 * What stands for mails that could not be had goes once they come again, whatever comes of it then. It stays while such a mail lies in
 * this folder, for then the one that comes is another.
 */
export async function forgetUnread(tx: Tx, fetching: Fetching, heads: MailHead[]): Promise<void> {
  const again = heads.filter((head) => !isTooLarge(head)).map(fingerprintOf);
  if (again.length === 0) return;
  const wasMoved = folderFor(fetching, 'failed') === null ? undefined : isNull(invoiceMails.moveTo);
  const mails = tx
    .select({ id: invoiceMails.id })
    .from(invoiceMails)
    .where(
      and(
        eq(invoiceMails.isSettled, true),
        inArray(invoiceMails.fingerprint, again),
        or(ofOtherFolders(fetching), wasMoved),
      ),
    );
  await tx.delete(invoices).where(and(inArray(invoices.mailId, mails), isUnread));
}

/** The row of a mail that is dealt with. */
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

/** The folder for mails that ended so; null where they stay. */
export const folderFor = ({ mailbox }: Pick<Fetching, 'mailbox'>, target: MailTarget): string | null =>
  target === 'failed' ? mailbox.failedFolder : mailbox.processedFolder;

/** A mail that was to be read before and was not takes the place of its earlier row. */
export const overUnsettled = {
  target: [invoiceMails.tenantId, invoiceMails.boxId, invoiceMails.uidValidity, invoiceMails.uid],
  set: { isSettled: true, moveTo: sql`excluded.move_to` },
  setWhere: eq(invoiceMails.isSettled, false),
};

/** Notes that the server did not hand a mail over, and answers how often that was. */
export async function noteTry(fetching: Fetching, head: MailHead): Promise<number> {
  return whileCounting(fetching, async (tx) => {
    const [row] = await tx
      .insert(invoiceMails)
      .values({ ...settledMail(fetching, head, 'nothing'), isSettled: false, tries: 1 })
      .onConflictDoUpdate({ ...overUnsettled, set: { tries: sql`${invoiceMails.tries} + 1` } })
      .returning({ tries: invoiceMails.tries });
    return row?.tries ?? 0;
  });
}

/** Mails of these UIDs are gone from the folder and were never read: one that comes back is new. */
export const forgetUnsettled = (fetching: Fetching, uids: number[]): Promise<void> =>
  whileCounting(fetching, async (tx) => {
    await tx
      .delete(invoiceMails)
      .where(and(ofThisFolder(fetching), inArray(invoiceMails.uid, uids), eq(invoiceMails.isSettled, false)));
  });

/** Mails that have yet to be moved, by where to; `most` of them. */
export async function mailsToMove(fetching: Fetching, most: number): Promise<{ uid: number; moveTo: MailTarget }[]> {
  const rows = await fetching.ctx.read((db) =>
    db
      .select({ uid: invoiceMails.uid, moveTo: invoiceMails.moveTo })
      .from(invoiceMails)
      .where(and(ofThisFolder(fetching), isNotNull(invoiceMails.moveTo)))
      .orderBy(asc(invoiceMails.uid))
      .limit(most),
  );
  return rows.flatMap(({ uid, moveTo }) => (moveTo === null ? [] : [{ uid, moveTo }]));
}

export const rememberMoved = (fetching: Fetching, uids: number[]): Promise<void> =>
  whileCounting(fetching, async (tx) => {
    await tx
      .update(invoiceMails)
      .set({ moveTo: null })
      .where(and(ofThisFolder(fetching), inArray(invoiceMails.uid, uids)));
  });
