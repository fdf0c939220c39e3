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
  /** What the mail is about, once per occasion: a second mail of this key is the same mail. It gives the Message-ID. */
  key: string;
  /** The account it goes to. */
  userId: string;
  /** What the mail says beyond the account's own facts; never a secret. */
  data: z.input<Data>;
  /** Not before this; now, unless given. */
  dueAt?: Date;
}

/** Promises a mail in the caller's transaction. Nudge the outbox after the commit, else a sweep finds the row a few seconds later. */
export async function queueMail<Data extends z.ZodType>(
  tx: Tx,
  { kind, isAwaited }: Queueable<Data>,
  mail: QueuedMail<Data>,
): Promise<{ mailId: string; isNew: boolean }> {
  const [made] = await tx
    .insert(mails)
    .values({ id: newId(), kind, isAwaited, ...mail })
    .onConflictDoNothing({ target: [mails.tenantId, mails.key] })
    .returning({ id: mails.id });
  if (made) return { mailId: made.id, isNew: true };
  const [known] = await tx
    .select({ id: mails.id })
    .from(mails)
    .where(and(eq(mails.tenantId, mail.tenantId), eq(mails.key, mail.key)));
  if (!known) throw new Error('a mail of this key is neither new nor known');
  return { mailId: known.id, isNew: false };
}

/** Promises any number of mails; those whose key is known already stay as they are. */
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

/** Sends what is due in a tenant's outbox soon. Never throws. */
export const nudgeMails = (system: Pick<SystemContext, 'enqueue'>, tenantId: string): Promise<void> =>
  system.enqueue(deliverMails, { tenantId });
