import { and, desc, eq, exists, ilike, lt, or, sql } from 'drizzle-orm';
import { containing } from '@portal/db/containing';
import type { Tx } from '@portal/db/open';
import { preparedFor } from '@portal/db/prepared';
import { invoiceFiles, invoices } from '@portal/db/schema/invoices';
import { conflict, notFound } from '@portal/domain/errors';
import type { Invoice, InvoiceChange, InvoiceState } from '@portal/domain/invoices/invoices';
import type { UserContext } from '@portal/platform/context';
import type { OpenedFile, PartOf } from '@portal/platform/files/opened-file';
import { recordAudit } from './audit.ts';

export interface InvoiceFilter {
  state?: Invoice['state'] | undefined;
  search?: string | undefined;
  limit: number;
  /** The last id of the previous page. */
  after?: string | undefined;
}

/** Invoices, newest first. */
export async function listInvoices(
  ctx: UserContext,
  { search, limit, ...filter }: InvoiceFilter,
): Promise<{ items: Invoice[]; next: string | null }> {
  const params = { ...filter, limit: limit + 1, ...(search && { pattern: containing(search) }) };
  const rows = await ctx.run(invoicesPage(params), params);
  const items = rows.slice(0, limit).map(toInvoice);
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** Throws 404. */
export const getInvoice = (ctx: UserContext, id: string): Promise<Invoice> => ctx.tx((tx) => invoiceFor(tx, id));

/**
 * Marks an invoice as processed or as new, or gives it back the state it was read with. `error` and `duplicateOf` keep their values. Throws
 * 404, and 409 for a state that the invoice never had.
 */
export const updateInvoice = (ctx: UserContext, id: string, { state }: InvoiceChange): Promise<Invoice> =>
  ctx.tx(async (tx) => {
    const before = await tx
      .select({
        state: invoices.state,
        number: invoices.number,
        error: invoices.error,
        duplicateOf: invoices.duplicateOf,
      })
      .from(invoices)
      .where(eq(invoices.id, id))
      .for('update');
    if (!before[0]) throw notFound();
    const { error, duplicateOf } = before[0];
    if ((state === 'failed' && error === null) || (state === 'duplicate' && duplicateOf === null))
      throw conflict('CONFLICT', 'The invoice never had this state.');
    if (before[0].state !== state) {
      await tx.update(invoices).set({ state }).where(eq(invoices.id, id));
      await recordAudit(tx, ctx, {
        action: 'invoices.update',
        tenantId: ctx.tenantId,
        target: { type: 'invoice', id },
        summary: `Marked the invoice ${before[0].number ?? 'without a number'} as ${state}, previously ${before[0].state}.`,
      });
    }
    return invoiceFor(tx, id);
  });

interface StoredDocument {
  path: string;
  fileName: string;
  type: string;
}

/** A document of an invoice, by its index in `files`. Throws 404. */
export async function getDocument(ctx: UserContext, id: string, position: number): Promise<StoredDocument> {
  const [document] = await ctx.read((db) =>
    db
      .select({ path: invoiceFiles.path, fileName: invoiceFiles.fileName, type: invoiceFiles.type })
      .from(invoiceFiles)
      .where(and(eq(invoiceFiles.invoiceId, id), eq(invoiceFiles.position, position))),
  );
  if (!document) throw notFound();
  return document;
}

/** Its unchanged bytes. Throws 404 if the file no longer exists. */
export async function openDocument(ctx: UserContext, { path }: StoredDocument, partOf?: PartOf): Promise<OpenedFile> {
  const file = await ctx.files.open(path, partOf);
  if (!file) throw notFound();
  return file;
}

type PageParams = {
  limit: number;
  after?: string | undefined;
  pattern?: string | undefined;
  state?: InvoiceState | undefined;
};

const columns = {
  id: invoices.id,
  state: invoices.state,
  error: invoices.error,
  duplicateOf: invoices.duplicateOf,
  format: invoices.format,
  typeCode: invoices.typeCode,
  number: invoices.number,
  date: invoices.date,
  dueDate: invoices.dueDate,
  seller: invoices.seller,
  sellerVatId: invoices.sellerVatId,
  buyer: invoices.buyer,
  currency: invoices.currency,
  totalCents: invoices.totalCents,
  payableCents: invoices.payableCents,
  iban: invoices.iban,
  receivedAt: invoices.receivedAt,
  sender: invoices.sender,
  subject: invoices.subject,
  files: sql<Invoice['files']>`(
    select coalesce(jsonb_agg(jsonb_build_object('fileName', f.file_name, 'type', f.type, 'sizeBytes', f.size_bytes) order by f.position), '[]')
    from ${invoiceFiles} f where f.tenant_id = ${invoices}.tenant_id and f.invoice_id = ${invoices}.id)`.as('files'),
};

const invoicesPage = preparedFor<PageParams>()('invoices_page', (db, given) =>
  db
    .select(columns)
    .from(invoices)
    .where(
      and(
        given('state') ? eq(invoices.state, sql.placeholder('state')) : undefined,
        given('after') ? lt(invoices.id, sql.placeholder('after')) : undefined,
        given('pattern')
          ? or(
              ilike(invoices.number, sql.placeholder('pattern')),
              ilike(invoices.seller, sql.placeholder('pattern')),
              exists(
                db
                  .select({ id: invoiceFiles.id })
                  .from(invoiceFiles)
                  .where(
                    and(
                      eq(invoiceFiles.tenantId, invoices.tenantId),
                      eq(invoiceFiles.invoiceId, invoices.id),
                      ilike(invoiceFiles.fileName, sql.placeholder('pattern')),
                    ),
                  ),
              ),
            )
          : undefined,
      ),
    )
    .orderBy(desc(invoices.id))
    .limit(sql.placeholder('limit')),
);

async function invoiceFor(tx: Tx, id: string): Promise<Invoice> {
  const [row] = await tx.select(columns).from(invoices).where(eq(invoices.id, id));
  if (!row) throw notFound();
  return toInvoice(row);
}

type Row = Omit<Invoice, 'fileName'>;
const toInvoice = (row: Row): Invoice => ({ ...row, fileName: row.files[0]?.fileName ?? null });
