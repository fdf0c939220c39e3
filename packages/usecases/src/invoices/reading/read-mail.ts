import { unavailable } from '@portal/domain/errors';
import type { InvoiceError } from '@portal/domain/invoices/invoices';
import { SECOND } from '@portal/domain/time';
import type { TenantContext } from '@portal/platform/context';
import { TaskError, taskOf } from '@portal/platform/sandbox/task';
import type { run as readDocument } from './document-task.ts';
import type { MailDocument } from './documents.ts';
import type { run as parseMail } from './mail-task.ts';
import type { Reading } from './xml.ts';

export type ReadDocument = MailDocument & { reading: Reading };
/** The documents of a mail with their readings, or the reason why the mail cannot be parsed. */
export type MailReading = { documents: ReadDocument[] } | { error: InvoiceError };

const limits = {
  timeoutMs: 8 * SECOND,
  maxMemoryMb: 450,
  // All documents of a mail, plus their names and data.
  maxOutputBytes: 40 * 1024 * 1024,
};
const whole = taskOf<typeof parseMail>(new URL('mail-task.ts', import.meta.url), limits);
const one = taskOf<typeof readDocument>(new URL('document-task.ts', import.meta.url), {
  ...limits,
  maxOutputBytes: 1024 * 1024,
});
/** Total time for the documents that are read one by one; the rest are then `TOO_LARGE`. */
const oneByOneMs = 20 * SECOND;
/** Parsing the mail again, then its documents, of which the last one may begin at the end of their time. */
const restMs = limits.timeoutMs + oneByOneMs + limits.timeoutMs;

/**
 * Parses a mail and reads all its documents in one sandbox process. If that process dies, each document is read in a process of its own,
 * so that a malicious document harms only itself. Returns null if reading, apart from starting processes, could last beyond `until` on the
 * `performance` clock. Throws 503 if no sandbox process is available.
 */
export async function readMail(ctx: TenantContext, mail: Uint8Array, until: number): Promise<MailReading | null> {
  const isLate = (neededMs: number): boolean => performance.now() + neededMs > until;
  const owner = { tenantId: ctx.tenantId };
  if (isLate(limits.timeoutMs)) return null;
  const read = await outcome(ctx, ctx.sandbox.run(whole, { mail, isRead: true }, owner));
  if ('value' in read) return read.value as MailReading;
  if (isLate(restMs)) return null;
  const parsed = await outcome(ctx, ctx.sandbox.run(whole, { mail, isRead: false }, owner));
  if ('error' in parsed) return parsed;
  if ('error' in parsed.value) return parsed.value;
  const oneByOneUntil = performance.now() + oneByOneMs;
  const documents: ReadDocument[] = [];
  for (const { reading: _, ...document } of parsed.value.documents) {
    const reading: { value: Reading } | { error: InvoiceError } =
      performance.now() > oneByOneUntil
        ? { error: 'TOO_LARGE' }
        : await outcome(ctx, ctx.sandbox.run(one, document, owner));
    documents.push({
      ...document,
      reading: 'value' in reading ? reading.value : { format: 'other', data: null, error: reading.error },
    });
  }
  return { documents };
}

/** The result of a task, or the error of its input. */
async function outcome<T>(ctx: TenantContext, task: Promise<T>): Promise<{ value: T } | { error: InvoiceError }> {
  try {
    return { value: await task };
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    if (error.fault === 'outside') {
      throw unavailable('Invoices cannot be read right now. The portal tries again in a few minutes.', error);
    }
    // A library that fails on one document must not lose the others.
    if (error.fault === 'program') ctx.log.error({ err: error, tenantId: ctx.tenantId }, 'a mail could not be read');
    return { error: error.fault === 'input' && error.reason !== 'crashed' ? 'TOO_LARGE' : 'DAMAGED' };
  }
}
