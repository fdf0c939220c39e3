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
import { type Fetching, FetchOvertakenError, whileCurrent } from './fetching.ts';
import { forgetUnread, type MailOutcome, overUnsettled, settledMail } from './seen-mails.ts';

/** A mail that was read, or is known, with its outcome. */
export interface MailToStore {
  head: MailHead;
  outcome: MailOutcome;
  invoices: InvoiceInMail[];
}

/** An invoice in a mail: the data of its first document, and all its documents. */
interface InvoiceInMail {
  reading: ReadDocument['reading'];
  documents: ReadDocument[];
}

/** A document to be stored. */
interface NewFile {
  id: string;
  fileName: string;
  type: string;
  bytes: Uint8Array;
  sha256: Buffer;
}

/** An invoice with documents that are not stored yet. */
interface NewDocuments {
  head: MailHead;
  reading: ReadDocument['reading'];
  id: string;
  /** Its first document was stored earlier; these documents are added to it. */
  isKnown: boolean;
  files: NewFile[];
}

/** A mail that was seen under another UID. */
export const knownMail = (head: MailHead, outcome: MailOutcome): MailToStore => ({ head, outcome, invoices: [] });

/** A mail without its content: too large to be read, or never delivered by the server. */
export const unreadMail = (head: MailHead, error: InvoiceError): MailToStore => ({
  head,
  outcome: 'failed',
  invoices: [{ reading: { format: 'other', data: null, error }, documents: [] }],
});

/** A mail that was read. One that cannot be parsed, or has too many documents, is stored as one file. */
export function readMailToStore(head: MailHead, reading: MailReading, mail: Uint8Array): MailToStore {
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
 * Stores the documents of mails; documents that are stored already are skipped. All files are complete on disk before one transaction
 * inserts them, their invoices and the mails.
 */
export async function storeMails(fetching: Fetching, mails: MailToStore[]): Promise<void> {
  const { ctx } = fetching;
  const found = await notStoredYet(fetching, mails);
  const paths = new Map<NewFile, string>();
  const states = await withNewFiles(ctx.files, paths.values(), async () => {
    const writes = await Promise.allSettled(found.map(({ files }) => writeFiles(fetching, files, paths)));
    for (const write of writes) if (write.status === 'rejected') throw write.reason;
    return whileCurrent(fetching, (tx) => insertMails(tx, fetching, { mails, found, paths }));
  });
  for (const [at, state] of states.entries()) ctx.metrics.countInvoice(found[at]?.reading.format ?? 'other', state);
}

async function notStoredYet({ ctx }: Fetching, mails: MailToStore[]): Promise<NewDocuments[]> {
  const all = mails.flatMap((mail) => mail.invoices.flatMap(({ documents }) => documents));
  const hashes = new Map(all.map((document) => [document, hashOf(document.bytes)]));
  const stored =
    hashes.size === 0
      ? []
      : await ctx.read((db) =>
          db
            .select({ sha256: invoiceFiles.sha256, invoiceId: invoiceFiles.invoiceId })
            .from(invoiceFiles)
            .where(inArray(invoiceFiles.sha256, [...hashes.values()])),
        );
  const invoiceIds = new Map(stored.map(({ sha256, invoiceId }) => [sha256.toString('hex'), invoiceId]));
  const sha256Of = (document: ReadDocument) => hashes.get(document) ?? hashOf(document.bytes);
  const found: NewDocuments[] = [];
  for (const { head, invoices: inMail } of mails) {
    for (const { reading, documents } of inMail) {
      const [leading] = documents;
      const knownId = leading && invoiceIds.get(sha256Of(leading).toString('hex'));
      const id = knownId ?? newId();
      const files = documents.flatMap((document): NewFile[] => {
        const sha256 = sha256Of(document);
        // Equal bytes within these mails are one document, too.
        if (invoiceIds.has(sha256.toString('hex'))) return [];
        invoiceIds.set(sha256.toString('hex'), id);
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

/** Adds the path of each file to `paths` as soon as the file is written. */
async function writeFiles({ ctx }: Fetching, files: NewFile[], paths: Map<NewFile, string>): Promise<void> {
  for (const file of files) {
    const extension = extensionOf[file.type] ?? 'bin';
    const limits = { maxBytes: mailMaxBytes };
    const { path } = await ctx.files.write('invoice-documents', file.id, extension, file.bytes, limits);
    paths.set(file, path);
  }
}

/** Returns the state of each invoice; `known` if its documents are added to a stored one. */
async function insertMails(
  tx: Tx,
  fetching: Fetching,
  { mails, found, paths }: { mails: MailToStore[]; found: NewDocuments[]; paths: ReadonlyMap<NewFile, string> },
): Promise<string[]> {
  const { tenantId } = fetching.ctx;
  await forgetUnread(
    tx,
    fetching,
    mails.map(({ head }) => head),
  );
  const inserted = await tx
    .insert(invoiceMails)
    .values(mails.map(({ head, outcome }) => settledMail(fetching, head, outcome)))
    .onConflictDoUpdate(overUnsettled)
    .returning({ id: invoiceMails.id, uid: invoiceMails.uid });
  // An earlier attempt of this run was considered dead, but has stored one of these mails.
  if (inserted.length < mails.length) throw new FetchOvertakenError();
  const mailIds = new Map(inserted.map(({ id, uid }) => [uid, id]));

  const identityOf = ({ data }: NewDocuments['reading']) => data && invoiceIdentity(data);
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

  const positions = await fileCounts(
    tx,
    found.filter(({ isKnown }) => isKnown).map(({ id }) => id),
  );
  const files = found.flatMap(({ id, files: newFiles }) => {
    const from = positions.get(id) ?? 0;
    positions.set(id, from + newFiles.length);
    return newFiles.map((file, at) => ({
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

/** The first invoice of each identity, by identity; later ones are its duplicates. */
async function firstsOf(tx: Tx, identities: string[]): Promise<Map<string, string>> {
  if (identities.length === 0) return new Map();
  const rows = await tx
    .select({ identity: invoices.identity, id: sql<string>`(array_agg(${invoices.id} order by ${invoices.id}))[1]` })
    .from(invoices)
    .where(and(inArray(invoices.identity, identities), isNull(invoices.duplicateOf), ne(invoices.state, 'failed')))
    .groupBy(invoices.identity);
  return new Map(rows.flatMap(({ identity, id }) => (identity === null ? [] : [[identity, id] as const])));
}

/** The number of files of each invoice, by invoice id. */
async function fileCounts(tx: Tx, ids: string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await tx
    .select({ id: invoiceFiles.invoiceId, files: count() })
    .from(invoiceFiles)
    .where(inArray(invoiceFiles.invoiceId, ids))
    .groupBy(invoiceFiles.invoiceId);
  return new Map(rows.map(({ id, files }) => [id, files]));
}
