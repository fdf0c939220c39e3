import { and, eq } from 'drizzle-orm';
import type { z } from 'zod';
import type { Tx } from '@portal/db/open';
import { mails } from '@portal/db/schema/platform/mails';
import { newId } from '@portal/domain/ids';
import { portions } from '@portal/domain/portions';
import type { SystemContext } from '../context.ts';
import { deliverMails } from './jobs.ts';
import type { OutboxMail } from './mail.ts';

type Queueable<Data extends z.ZodType> = Pick<OutboxMail<Data, z.ZodType>, 'kind' | 'data' | 'isAwaited'>;

interface QueuedMail<Data extends z.ZodType> {
  tenantId: string;
  /** Identifies the occasion: a second mail with this key is the same mail. The Message-ID is derived from it. */
  key: string;
  /** The receiving account. */
  userId: string;
  /** Template data beyond the account's own; never a secret. */
  data: z.input<Data>;
  /** Earliest time to send it; default: now. */
  dueAt?: Date;
}

/** Queues a mail in the caller's transaction. Call `nudgeMails` after the commit; otherwise a sweep finds the row seconds later. */
export async function queueMail<Data extends z.ZodType>(
  tx: Tx,
  { kind, isAwaited }: Queueable<Data>,
  mail: QueuedMail<Data>,
): Promise<{ mailId: string; isNew: boolean }> {
  const [created] = await tx
    .insert(mails)
    .values({ id: newId(), kind, isAwaited, ...mail })
    .onConflictDoNothing({ target: [mails.tenantId, mails.key] })
    .returning({ id: mails.id });
  if (created) return { mailId: created.id, isNew: true };
  const [known] = await tx
    .select({ id: mails.id })
    .from(mails)
    .where(and(eq(mails.tenantId, mail.tenantId), eq(mails.key, mail.key)));
  if (!known) throw new Error('a mail with this key is neither new nor stored');
  return { mailId: known.id, isNew: false };
}

/** Queues any number of mails; mails with a known key stay unchanged. */
export async function queueMails<Data extends z.ZodType>(
  tx: Tx,
  { kind, isAwaited }: Queueable<Data>,
  queued: QueuedMail<Data>[],
): Promise<void> {
  for (const portion of portions(queued))
    await tx
      .insert(mails)
      .values(portion.map((mail) => ({ id: newId(), kind, isAwaited, ...mail })))
      .onConflictDoNothing({ target: [mails.tenantId, mails.key] });
}

/** Makes the worker send a tenant's due mails soon. Never throws. */
export const nudgeMails = (system: Pick<SystemContext, 'enqueue'>, tenantId: string): Promise<void> =>
  system.enqueue(deliverMails, { tenantId });
