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
/** The documents of a mail with what they say, or why it cannot be taken apart. */
export type MailReading = { documents: ReadDocument[] } | { error: InvoiceError };

const maxMemoryMb = 450;
// All documents of a mail, and some more for names and data.
const maxOutputBytes = 40 * 1024 * 1024;
const whole = taskOf<typeof parseMail>(new URL('mail-task.ts', import.meta.url), {
  timeoutMs: 8 * SECOND,
  maxMemoryMb,
  maxOutputBytes,
});
const unread = { ...whole, limits: { ...whole.limits, timeoutMs: 8 * SECOND } };
const one = taskOf<typeof readDocument>(new URL('document-task.ts', import.meta.url), {
  // A process has just ended, and another one takes its time to start on a busy machine.
  timeoutMs: 10 * SECOND,
  maxMemoryMb,
  maxOutputBytes: 1024 * 1024,
});
/** For the documents of one mail that are read one by one; those left then are too large. */
const oneByOneMs = 20 * SECOND;
const restMs = unread.limits.timeoutMs + oneByOneMs + one.limits.timeoutMs;

/**
 * Takes a mail apart and reads its documents in another process, all of them at once. Where that ends the process, each is read by
 * itself, so that a document made to do harm is the only one it does harm to. Null where that might last beyond `until`, by the clock of
 * `performance`. Throws 503 when there is no process to be had.
 */
export async function readMail(ctx: TenantContext, mail: Uint8Array, until: number): Promise<MailReading | null> {
  const isLate = (neededMs: number): boolean => performance.now() + neededMs > until;
  const whose = { tenantId: ctx.tenantId };
  if (isLate(whole.limits.timeoutMs)) return null;
  const read = await outcome(ctx, ctx.sandbox.run(whole, { mail, isRead: true }, whose));
  if ('value' in read) return read.value as MailReading;
  if (isLate(restMs)) return null;
  const apart = await outcome(ctx, ctx.sandbox.run(unread, { mail, isRead: false }, whose));
  if ('error' in apart) return apart;
  if ('error' in apart.value) return apart.value;
  const oneByOneUntil = performance.now() + oneByOneMs;
  const documents: ReadDocument[] = [];
  for (const { reading: _, ...document } of apart.value.documents) {
    const reading: { value: Reading } | { error: InvoiceError } =
      performance.now() > oneByOneUntil
        ? { error: 'TOO_LARGE' }
        : await outcome(ctx, ctx.sandbox.run(one, document, whose));
    documents.push({
      ...document,
      reading: 'value' in reading ? reading.value : { format: 'other', data: null, error: reading.error },
    });
  }
  return { documents };
}

/** What a task gave, or which fault of its input kept it from giving anything. */
async function outcome<T>(ctx: TenantContext, task: Promise<T>): Promise<{ value: T } | { error: InvoiceError }> {
  try {
    return { value: await task };
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    if (error.fault === 'outside') {
      throw unavailable('Invoices cannot be read right now. The portal tries again in a few minutes.', error);
    }
    // A library that stumbles over a document is no reason to lose the others.
    if (error.fault === 'program') ctx.log.error({ err: error, tenantId: ctx.tenantId }, 'a mail could not be read');
    return { error: error.fault === 'input' && error.reason !== 'crashed' ? 'TOO_LARGE' : 'DAMAGED' };
  }
}
