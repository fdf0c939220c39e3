import { setTimeout as pause } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import type { TenantScope } from '@portal/db/open';
import { mails } from '@portal/db/schema/platform/mails';

/** A person waits for the answer: longer than this it says "not yet", and the mail may still go out. */
const patienceMs = 15_000;

/** Waits until an outbox row is settled, 15 s at most; says whether the mail was sent and, if not, in which state it is and why. */
export async function waitForMail(
  scope: TenantScope,
  mailId: string,
): Promise<{ sent: boolean; state: string; reason: string | null }> {
  const end = performance.now() + patienceMs;
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
    // A first try that failed is an answer too: the next one is half a minute away.
    const hasAnswer = row.settledAt !== null || (row.state === 'queued' && row.attempts > 0);
    if (hasAnswer || performance.now() + waitMs > end)
      return { sent: row.state === 'sent', state: row.state, reason: row.reason };
    await pause(waitMs);
  }
}
