import { type MailDocument, readDocument } from './documents.ts';
import type { Reading } from './xml.ts';

/** Sandbox task: reads one document. */
export const run = (document: Pick<MailDocument, 'kind' | 'bytes'>): Promise<Reading> => readDocument(document);
