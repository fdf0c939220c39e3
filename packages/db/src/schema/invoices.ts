import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  date,
  foreignKey,
  index,
  integer,
  pgEnum,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { bytea, createdAt, instant, tenantColumns, tenantRules } from './columns.ts';
import { imapColumns, imapFailure } from './imap.ts';
import { tenants } from './tenants.ts';

/** The mailbox that receives a tenant's invoices; one row per tenant. */
export const invoiceMailboxes = pgTable(
  'invoice_mailboxes',
  {
    ...tenantColumns,
    ...imapColumns(),
    processedFolder: text(),
    failedFolder: text(),
    /** Identifies a folder of an account. It changes with the server, account or folder, because the UIDs change with them. */
    boxId: uuid().notNull(),
    /** Incremented with every change; a fetch that began with an earlier revision writes nothing. */
    revision: integer().notNull().default(1),
    /** Consecutive refused sign-ins. */
    refusals: integer().notNull().default(0),
    /** When the next scheduled fetch is due; null while paused, and while switched off with no mails left over. */
    nextFetchAt: instant(),
    lastFetchedAt: instant(),
    lastError: imapFailure(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('invoice_mailboxes_tenant_unique').on(t.tenantId),
    index('invoice_mailboxes_due')
      .on(t.nextFetchAt)
      .where(sql`next_fetch_at is not null`),
    ...tenantRules(t, tenants),
  ],
);

export const invoiceMailTarget = pgEnum('invoice_mail_target', ['processed', 'failed']);

/**
 * Every mail seen so far, including mails without documents. The rows stay when the mailbox is deleted: their fingerprints identify the
 * same mails if they come again.
 */
export const invoiceMails = pgTable(
  'invoice_mails',
  {
    ...tenantColumns,
    boxId: uuid().notNull(),
    /** A number of up to 64 bits. */
    uidValidity: text().notNull(),
    uid: bigint({ mode: 'number' }).notNull(),
    /** A hash of the Message-ID and other headers; identifies a mail whose UID has changed. */
    fingerprint: bytea().notNull(),
    /** True once its documents are stored; false while the server has not delivered it. */
    isSettled: boolean().notNull(),
    tries: integer().notNull().default(0),
    /** The folder the mail still has to be moved to. */
    moveTo: invoiceMailTarget(),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('invoice_mails_uid_unique').on(t.tenantId, t.boxId, t.uidValidity, t.uid),
    index('invoice_mails_fingerprint').on(t.tenantId, t.fingerprint),
    index('invoice_mails_left')
      .on(t.tenantId, t.boxId)
      .where(sql`not is_settled or move_to is not null`),
    ...tenantRules(t, tenants),
  ],
);

export const invoiceState = pgEnum('invoice_state', ['new', 'processed', 'duplicate', 'failed']);
export const invoiceError = pgEnum('invoice_error', [
  'ENCRYPTED',
  'DAMAGED',
  'UNSUPPORTED',
  'TOO_LARGE',
  'XML_REFUSED',
]);
export const invoiceFormat = pgEnum('invoice_format', ['xrechnung', 'zugferd', 'ubl', 'cii', 'other']);

/** Invoices and their data. Rows never expire; only the placeholder of an undelivered mail is deleted when that mail comes again. */
export const invoices = pgTable(
  'invoices',
  {
    ...tenantColumns,
    mailId: uuid().notNull(),
    state: invoiceState().notNull(),
    error: invoiceError(),
    duplicateOf: uuid(),
    format: invoiceFormat().notNull(),
    typeCode: text(),
    number: text(),
    date: date({ mode: 'string' }),
    dueDate: date({ mode: 'string' }),
    seller: text(),
    sellerVatId: text(),
    buyer: text(),
    currency: text(),
    totalCents: bigint({ mode: 'number' }),
    payableCents: bigint({ mode: 'number' }),
    iban: text(),
    receivedAt: instant().notNull(),
    /** Sender of the mail; helps users find the mail. */
    sender: text(),
    subject: text(),
    /** Seller, number, date and total; equal identities make a duplicate. Null if one of them is missing. */
    identity: text(),
  },
  (t) => [
    index('invoices_newest').on(t.tenantId, t.id.desc()),
    index('invoices_identity')
      .on(t.tenantId, t.identity)
      .where(sql`identity is not null`),
    index('invoices_mail').on(t.tenantId, t.mailId),
    index('invoices_duplicate_of').on(t.tenantId, t.duplicateOf),
    foreignKey({ columns: [t.tenantId, t.mailId], foreignColumns: [invoiceMails.tenantId, invoiceMails.id] }),
    foreignKey({ columns: [t.tenantId, t.duplicateOf], foreignColumns: [t.tenantId, t.id] }),
    check('invoices_failed_why', sql`${t.state} <> 'failed' or ${t.error} is not null`),
    ...tenantRules(t, tenants),
  ],
);

/** The unchanged documents of an invoice; the one its data was read from is first. */
export const invoiceFiles = pgTable(
  'invoice_files',
  {
    ...tenantColumns,
    invoiceId: uuid().notNull(),
    position: integer().notNull(),
    /** Safe to display and to use as a file name. */
    fileName: text().notNull(),
    type: text().notNull(),
    sizeBytes: integer().notNull(),
    sha256: bytea().notNull(),
    path: text().notNull(),
  },
  (t) => [
    uniqueIndex('invoice_files_sha256_unique').on(t.tenantId, t.sha256),
    uniqueIndex('invoice_files_position_unique').on(t.tenantId, t.invoiceId, t.position),
    uniqueIndex('invoice_files_path_unique').on(t.path),
    foreignKey({ columns: [t.tenantId, t.invoiceId], foreignColumns: [invoices.tenantId, invoices.id] }).onDelete(
      'cascade',
    ),
    ...tenantRules(t, tenants),
  ],
);
