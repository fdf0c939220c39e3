import { type MailDocument, readDocument } from './documents.ts';
import type { Reading } from './xml.ts';

/** A task for a process of its own: one document in, what it says out. */
export const run = (document: Pick<MailDocument, 'kind' | 'bytes'>): Promise<Reading> => readDocument(document);
