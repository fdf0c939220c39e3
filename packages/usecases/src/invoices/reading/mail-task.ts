import type { InvoiceError } from '@portal/domain/invoices/invoices';
import { documentsOf, type MailDocument, readDocument } from './documents.ts';
import type { Reading } from './xml.ts';

export interface MailOrder {
  mail: Uint8Array;
  /** Whether the documents are read, too. Where one of them ends the process, they are had unread to be read one by one. */
  isRead: boolean;
}

export type ParsedMail = { documents: (MailDocument & { reading: Reading | null })[] } | { error: InvoiceError };

/** A task for a process of its own: a mail in, its documents out, each with what it says. */
export async function run({ mail, isRead }: MailOrder): Promise<ParsedMail> {
  const found = await documentsOf(mail);
  if (typeof found === 'string') return { error: found };
  const documents: (MailDocument & { reading: Reading | null })[] = [];
  for (const document of found) documents.push({ ...document, reading: isRead ? await readDocument(document) : null });
  return { documents };
}
