import { createHash } from 'node:crypto';
import { and, count, inArray, isNull, ne, sql } from 'drizzle-orm';
import type { MailHead } from '@portal/connectors/imap/mailbox';
import type { Tx } from '@portal/db/open';
import { invoiceFiles, invoiceMails, invoices } from '@portal/db/schema/invoices';
import { newId } from '@portal/domain/ids';
import { documentName } from '@portal/domain/invoices/document-name';
import { type InvoiceError, invoiceIdentity } from '@portal/domain/invoices/invoices';
import { mailMaxBytes } from '@portal/domain/invoices/limits';
import { shownLine } from '@portal/domain/text';
import { withNewFiles } from '@portal/platform/files/with-new-files';
import { groupDocuments } from '../reading/group-documents.ts';
import type { MailReading, ReadDocument } from '../reading/read-mail.ts';
import { type Fetching, FetchOvertakenError, whileCounting } from './fetching.ts';
import { forgetUnread, type MailOutcome, overUnsettled, settledMail } from './seen-mails.ts';

/** A mail that is dealt with. */
export interface MailToKeep {
  head: MailHead;
  outcome: MailOutcome;
  invoices: InvoiceInMail[];
}

/** An invoice as a mail has it: what was read of its first document, and all of them. */
interface InvoiceInMail {
  reading: ReadDocument['reading'];
  documents: ReadDocument[];
}

/** A document that is to be kept. */
interface NewFile {
  id: string;
  fileName: string;
  type: string;
  bytes: Uint8Array;
  sha256: Buffer;
}

/** An invoice with documents that are not kept yet. */
interface Found {
  head: MailHead;
  reading: ReadDocument['reading'];
  id: string;
  /** Whether its first document came before, and these join it. */
  isKnown: boolean;
  files: NewFile[];
}

/** A mail that was seen under another UID. */
export const knownMail = (head: MailHead, outcome: MailOutcome): MailToKeep => ({ head, outcome, invoices: [] });

/** A mail that came and could not be had: too large to be read, or never handed over by the server. */
export const unreadMail = (head: MailHead, error: InvoiceError): MailToKeep => ({
  head,
  outcome: 'failed',
  invoices: [{ reading: { format: 'other', data: null, error }, documents: [] }],
});

/** A mail that was read; one that cannot be taken apart, or holds too much, is kept as it is. */
export function readMailToKeep(head: MailHead, reading: MailReading, mail: Uint8Array): MailToKeep {
  const documents = 'documents' in reading ? reading.documents : [wholeMail(mail, reading.error)];
  const hasFailed = documents.some((document) => document.reading.error !== null);
  return {
    head,
    outcome: documents.length === 0 ? 'nothing' : hasFailed ? 'failed' : 'processed',
    invoices: groupDocuments(documents).flatMap((group) => {
      const [leading] = group;
      return leading ? [{ reading: leading.reading, documents: group }] : [];
    }),
  };
}

const wholeMail = (bytes: Uint8Array, error: InvoiceError): ReadDocument => ({
  name: 'mail.eml',
  kind: 'unopened',
  type: 'message/rfc822',
  bytes,
  reading: { format: 'other', data: null, error },
});

/**
 * Keeps what mails brought, once: documents that are kept already are not kept again. Their files are whole on disk before the one
 * transaction in which they, their invoices and the mails themselves are noted.
 */
export async function keepMails(fetching: Fetching, mails: MailToKeep[]): Promise<void> {
  const { ctx } = fetching;
  const found = await notKeptYet(fetching, mails);
  const paths = new Map<NewFile, string>();
  const states = await withNewFiles(ctx.files, paths.values(), async () => {
    const writing = await Promise.allSettled(found.map(({ files }) => writeFiles(fetching, files, paths)));
    for (const written of writing) if (written.status === 'rejected') throw written.reason;
    return whileCounting(fetching, (tx) => insertMails(tx, fetching, { mails, found, paths }));
  });
  for (const [at, state] of states.entries()) ctx.metrics.countInvoice(found[at]?.reading.format ?? 'other', state);
}

async function notKeptYet({ ctx }: Fetching, mails: MailToKeep[]): Promise<Found[]> {
  const all = mails.flatMap((mail) => mail.invoices.flatMap(({ documents }) => documents));
  const hashes = new Map(all.map((document) => [document, hashOf(document.bytes)]));
  const kept =
    hashes.size === 0
      ? []
      : await ctx.read((db) =>
          db
            .select({ sha256: invoiceFiles.sha256, invoiceId: invoiceFiles.invoiceId })
            .from(invoiceFiles)
            .where(inArray(invoiceFiles.sha256, [...hashes.values()])),
        );
  const keptIn = new Map(kept.map(({ sha256, invoiceId }) => [sha256.toString('hex'), invoiceId]));
  const hashed = (document: ReadDocument) => hashes.get(document) ?? hashOf(document.bytes);
  const found: Found[] = [];
  for (const { head, invoices: inMail } of mails) {
    for (const { reading, documents } of inMail) {
      const [leading] = documents;
      const knownId = leading && keptIn.get(hashed(leading).toString('hex'));
      const id = knownId ?? newId();
      const files = documents.flatMap((document): NewFile[] => {
        const sha256 = hashed(document);
        // The same bytes twice among these mails are one document, too.
        if (keptIn.has(sha256.toString('hex'))) return [];
        keptIn.set(sha256.toString('hex'), id);
        const { name, type, bytes } = document;
        return [{ id: newId(), fileName: documentName(name, type), type, bytes, sha256 }];
      });
      if (leading && files.length === 0) ctx.metrics.countInvoice(reading.format, 'known');
      else found.push({ head, reading, id, isKnown: knownId !== undefined, files });
    }
  }
  return found;
}

const hashOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

const extensionOf: Record<string, string> = { 'application/pdf': 'pdf', 'application/xml': 'xml' };

/** Notes in `paths` where each file is as soon as it is there. */
async function writeFiles({ ctx }: Fetching, files: NewFile[], paths: Map<NewFile, string>): Promise<void> {
  for (const file of files) {
    const extension = extensionOf[file.type] ?? 'bin';
    const limits = { maxBytes: mailMaxBytes };
    const { path } = await ctx.files.write('invoice-documents', file.id, extension, file.bytes, limits);
    paths.set(file, path);
  }
}

/** Answers the state each invoice came in with; `known` where documents are added to one that came before. */
async function insertMails(
  tx: Tx,
  fetching: Fetching,
  { mails, found, paths }: { mails: MailToKeep[]; found: Found[]; paths: ReadonlyMap<NewFile, string> },
): Promise<string[]> {
  const { tenantId } = fetching.ctx;
  await forgetUnread(
    tx,
    fetching,
    mails.map(({ head }) => head),
  );
  const noted = await tx
    .insert(invoiceMails)
    .values(mails.map(({ head, outcome }) => settledMail(fetching, head, outcome)))
    .onConflictDoUpdate(overUnsettled)
    .returning({ id: invoiceMails.id, uid: invoiceMails.uid });
  // One is settled already: by a try of this run that was taken for dead and was not.
  if (noted.length < mails.length) throw new FetchOvertakenError();
  const mailIds = new Map(noted.map(({ id, uid }) => [uid, id]));

  const identityOf = ({ data }: Found['reading']) => data && invoiceIdentity(data);
  const firsts = await firstsOf(tx, [...new Set(found.flatMap(({ reading }) => identityOf(reading) ?? []))]);
  const states: string[] = [];
  const rows: (typeof invoices.$inferInsert)[] = [];
  for (const { head, reading, id, isKnown } of found) {
    if (isKnown) {
      states.push('known');
      continue;
    }
    const identity = identityOf(reading);
    const first = identity === null ? undefined : firsts.get(identity);
    const state = reading.error !== null ? 'failed' : first ? 'duplicate' : 'new';
    if (identity !== null && state === 'new') firsts.set(identity, id);
    states.push(state);
    rows.push({
      id,
      tenantId,
      mailId: mailIds.get(head.uid) ?? '',
      state,
      error: reading.error,
      duplicateOf: first ?? null,
      format: reading.format,
      ...reading.data,
      receivedAt: head.receivedAt,
      sender: shownLine(head.from ?? '') || null,
      subject: shownLine(head.subject ?? '') || null,
      identity,
    });
  }
  if (rows.length > 0) await tx.insert(invoices).values(rows);

  const positions = await filesOf(
    tx,
    found.filter(({ isKnown }) => isKnown).map(({ id }) => id),
  );
  const files = found.flatMap(({ id, files: ofIt }) => {
    const from = positions.get(id) ?? 0;
    positions.set(id, from + ofIt.length);
    return ofIt.map((file, at) => ({
      id: file.id,
      tenantId,
      invoiceId: id,
      position: from + at,
      fileName: file.fileName,
      type: file.type,
      sizeBytes: file.bytes.byteLength,
      sha256: file.sha256,
      path: paths.get(file) ?? '',
    }));
  });
  if (files.length > 0) await tx.insert(invoiceFiles).values(files);
  return states;
}

/** The invoices that others with the same identity are duplicates of, by identity. */
async function firstsOf(tx: Tx, identities: string[]): Promise<Map<string, string>> {
  if (identities.length === 0) return new Map();
  const rows = await tx
    .select({ identity: invoices.identity, id: sql<string>`(array_agg(${invoices.id} order by ${invoices.id}))[1]` })
    .from(invoices)
    .where(and(inArray(invoices.identity, identities), isNull(invoices.duplicateOf), ne(invoices.state, 'failed')))
    .groupBy(invoices.identity);
  return new Map(rows.flatMap(({ identity, id }) => (identity === null ? [] : [[identity, id] as const])));
}

/** How many documents invoices have. */
async function filesOf(tx: Tx, ids: string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await tx
    .select({ id: invoiceFiles.invoiceId, files: count() })
    .from(invoiceFiles)
    .where(inArray(invoiceFiles.invoiceId, ids))
    .groupBy(invoiceFiles.invoiceId);
  return new Map(rows.map(({ id, files }) => [id, files]));
}
