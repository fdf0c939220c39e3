import { setTimeout as pause } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import type { TenantScope } from '@portal/db/open';
import { mails } from '@portal/db/schema/platform/mails';

/** A user waits for the answer. After this time the answer is "not yet"; the mail may still be sent. */
const maxWaitMs = 15_000;

/** Waits until an outbox row is settled, for 15 s at most. Returns whether the mail was sent, its state, and the reason if it was not. */
export async function waitForMail(
  scope: TenantScope,
  mailId: string,
): Promise<{ sent: boolean; state: string; reason: string | null }> {
  const end = performance.now() + maxWaitMs;
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 1.5, 500)) {
    const [row] = await scope.read((db) =>
      db
        .select({
          state: mails.state,
          settledAt: mails.settledAt,
          attempts: mails.attempts,
          reason: mails.failureMessage,
        })
        .from(mails)
        .where(eq(mails.id, mailId)),
    );
    if (!row) return { sent: false, state: 'gone', reason: null };
    // A failed first attempt also counts as an answer: the next attempt is half a minute away.
    const hasAnswer = row.settledAt !== null || (row.state === 'queued' && row.attempts > 0);
    if (hasAnswer || performance.now() + waitMs > end)
      return { sent: row.state === 'sent', state: row.state, reason: row.reason };
    await pause(waitMs);
  }
}
