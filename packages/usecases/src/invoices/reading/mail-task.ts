import type { InvoiceError } from '@portal/domain/invoices/invoices';
import { documentsOf, type MailDocument, readDocument } from './documents.ts';
import type { Reading } from './xml.ts';

export interface MailInput {
  mail: Uint8Array;
  /** Whether to read the documents, too. If one of them crashes the process, a second task returns them unread. */
  isRead: boolean;
}

export type ParsedMail = { documents: (MailDocument & { reading: Reading | null })[] } | { error: InvoiceError };

/** Sandbox task: parses a mail and returns its documents with their readings. */
export async function run({ mail, isRead }: MailInput): Promise<ParsedMail> {
  const found = await documentsOf(mail);
  if (typeof found === 'string') return { error: found };
  const documents: (MailDocument & { reading: Reading | null })[] = [];
  for (const document of found) documents.push({ ...document, reading: isRead ? await readDocument(document) : null });
  return { documents };
}
