import { createHash } from 'node:crypto';
import { and, asc, eq, inArray, isNull, ne } from 'drizzle-orm';
import type { MailHead } from '@portal/connectors/imap/mailbox';
import type { Tx } from '@portal/db/open';
import { invoiceFiles, invoiceMails, invoices } from '@portal/db/schema/invoices';
import { shownFileName } from '@portal/domain/dashboards/tabs';
import { PortalError } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { type InvoiceError, invoiceIdentity } from '@portal/domain/invoices/invoices';
import { mailMaxBytes } from '@portal/domain/invoices/limits';
import { shownLine } from '../reading/fields.ts';
import { groupDocuments } from '../reading/group-documents.ts';
import type { MailReading, ReadDocument } from '../reading/read-mail.ts';
import { type Fetching, FetchOvertakenError, whileCounting } from './fetching.ts';
import { type MailOutcome, overUnsettled, settledMail } from './seen-mails.ts';

/** A document that is to be kept. */
interface NewFile {
  id: string;
  fileName: string;
  type: string;
  bytes: Uint8Array;
  sha256: Buffer;
}

/** An invoice as this mail has it: what was read of its first document, and those that are not kept yet. */
interface Found {
  reading: ReadDocument['reading'];
  /** The invoice whose first document came before. */
  invoiceId: string | null;
  files: NewFile[];
}

/**
 * Keeps what a mail brought, once: documents that are kept already are not kept again. Their files are whole on disk before the one
 * transaction in which they, their invoices and the mail itself are noted.
 */
export async function keepMail(
  fetching: Fetching,
  head: MailHead,
  reading: MailReading,
  mail: Uint8Array,
): Promise<void> {
  const documents = 'documents' in reading ? reading.documents : [wholeMail(mail, reading.error)];
  const found = await notKeptYet(fetching, groupDocuments(documents));
  const outcome: MailOutcome =
    documents.length === 0
      ? 'nothing'
      : documents.some((document) => document.reading.error !== null)
        ? 'failed'
        : 'processed';
  await keep(fetching, head, found, outcome);
}

/** Keeps that a mail came and could not be had: too large to be read, or never handed over by the server. */
export const keepUnread = (fetching: Fetching, head: MailHead, error: InvoiceError): Promise<void> =>
  keep(fetching, head, [{ reading: { format: 'other', data: null, error }, invoiceId: null, files: [] }], 'failed');

/** A mail that cannot be taken apart, or holds too much, is kept as it is. */
const wholeMail = (bytes: Uint8Array, error: InvoiceError): ReadDocument => ({
  name: 'mail.eml',
  kind: 'unopened',
  type: 'message/rfc822',
  bytes,
  reading: { format: 'other', data: null, error },
});

async function notKeptYet({ ctx }: Fetching, groups: ReadDocument[][]): Promise<Found[]> {
  const hashes = new Map(groups.flat().map((document) => [document, hashOf(document.bytes)]));
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
  const taken = new Set(keptIn.keys());
  return groups.flatMap((group): Found[] => {
    const [leading] = group;
    if (!leading) return [];
    const files = group.flatMap((document): NewFile[] => {
      const sha256 = hashes.get(document) ?? hashOf(document.bytes);
      // The same bytes twice in one mail are one document, too.
      if (taken.has(sha256.toString('hex'))) return [];
      taken.add(sha256.toString('hex'));
      const { name, type, bytes, kind } = document;
      const fileName = shownFileName(name ?? undefined, kind === 'unopened' ? 'attachment' : `invoice.${kind}`);
      return [{ id: newId(), fileName, type, bytes, sha256 }];
    });
    if (files.length === 0) {
      ctx.metrics.countInvoice(leading.reading.format, 'known');
      return [];
    }
    const invoiceId = keptIn.get(hashes.get(leading)?.toString('hex') ?? '') ?? null;
    return [{ reading: leading.reading, invoiceId, files }];
  });
}

const hashOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

const extensionOf: Record<string, string> = { 'application/pdf': 'pdf', 'application/xml': 'xml' };

async function keep(fetching: Fetching, head: MailHead, found: Found[], outcome: MailOutcome): Promise<void> {
  const { ctx } = fetching;
  const paths = new Map<NewFile, string>();
  try {
    for (const file of found.flatMap(({ files }) => files)) {
      const { path } = await ctx.files.write(
        'invoice-documents',
        file.id,
        extensionOf[file.type] ?? 'bin',
        file.bytes,
        {
          maxBytes: mailMaxBytes,
        },
      );
      paths.set(file, path);
    }
    const states = await whileCounting(fetching, async (tx) => {
      const [mail] = await tx
        .insert(invoiceMails)
        .values(settledMail(fetching, head, outcome))
        .onConflictDoUpdate(overUnsettled)
        .returning({ id: invoiceMails.id });
      // It is settled already: by a try of this run that was taken for dead and was not.
      if (!mail) throw new FetchOvertakenError();
      const inserted: string[] = [];
      for (const one of found)
        inserted.push(await insertInvoice(tx, fetching, { head, mailId: mail.id, found: one, paths }));
      return inserted;
    });
    for (const [at, state] of states.entries()) ctx.metrics.countInvoice(found[at]?.reading.format ?? 'other', state);
  } catch (error) {
    // After a lost connection the rows may well name them; then the sweep finds out, and until then the files stay.
    const isRefused =
      error instanceof FetchOvertakenError || (error instanceof PortalError && error.kind !== 'unavailable');
    if (isRefused) for (const path of paths.values()) await ctx.files.remove(path);
    throw error;
  }
}

/** Answers the state it came in with; `known` where documents are added to an invoice that came before. */
async function insertInvoice(
  tx: Tx,
  { ctx }: Fetching,
  {
    head,
    mailId,
    found: { reading, invoiceId, files },
    paths,
  }: { head: MailHead; mailId: string; found: Found; paths: ReadonlyMap<NewFile, string> },
): Promise<string> {
  const id = invoiceId ?? newId();
  const identity = reading.data && invoiceIdentity(reading.data);
  const [first] = identity === null ? [] : await firstOf(tx, identity);
  const state = reading.error !== null ? 'failed' : first ? 'duplicate' : 'new';
  let position = 0;
  if (invoiceId !== null) {
    position = await tx.$count(invoiceFiles, eq(invoiceFiles.invoiceId, id));
  } else {
    await tx.insert(invoices).values({
      id,
      tenantId: ctx.tenantId,
      mailId,
      state,
      error: reading.error,
      duplicateOf: first?.id ?? null,
      format: reading.format,
      ...reading.data,
      receivedAt: head.receivedAt,
      sender: shownLine(head.from),
      subject: shownLine(head.subject),
      identity,
    });
  }
  if (files.length > 0) {
    await tx.insert(invoiceFiles).values(
      files.map((file, at) => ({
        id: file.id,
        tenantId: ctx.tenantId,
        invoiceId: id,
        position: position + at,
        fileName: file.fileName,
        type: file.type,
        sizeBytes: file.bytes.byteLength,
        sha256: file.sha256,
        path: paths.get(file) ?? '',
      })),
    );
  }
  return invoiceId === null ? state : 'known';
}

/** The invoice that another document with the same identity is a duplicate of. */
const firstOf = (tx: Tx, identity: string) =>
  tx
    .select({ id: invoices.id })
    .from(invoices)
    .where(and(eq(invoices.identity, identity), isNull(invoices.duplicateOf), ne(invoices.state, 'failed')))
    .orderBy(asc(invoices.id))
    .limit(1);
