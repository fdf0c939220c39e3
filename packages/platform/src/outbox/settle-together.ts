import type { TenantScope } from '@portal/db/open';
import { type ClaimedMail, type Settlement, settleMails } from './outbox.ts';

interface Waiting {
  mail: ClaimedMail;
  settlement: Settlement;
  settled: PromiseWithResolvers<boolean>;
}

/**
 * Settles mails of one tenant: those whose try ends while a transaction is under way share the next one, so that a busy outbox
 * takes a commit for several mails and a quiet one waits for nobody. Says of each mail whether it was still ours.
 */
export function settleTogether(scope: TenantScope): (mail: ClaimedMail, settlement: Settlement) => Promise<boolean> {
  let waiting: Waiting[] = [];
  let isAtWork = false;

  async function settleAll(): Promise<void> {
    isAtWork = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const isSettled = await settle(batch);
      // What one mail's settlement meets must not keep the others from theirs.
      if (!isSettled) for (const one of batch) await settle([one]);
    }
    isAtWork = false;
  }

  /** Of a single mail the failure is told to who waits for it. */
  async function settle(batch: Waiting[]): Promise<boolean> {
    try {
      const ours = await settleMails(scope, batch);
      for (const { mail, settled } of batch) settled.resolve(ours.has(mail.id));
      return true;
    } catch (error) {
      const [first, ...others] = batch;
      if (others.length === 0) first?.settled.reject(error);
      return others.length === 0;
    }
  }

  return (mail, settlement) => {
    const settled = Promise.withResolvers<boolean>();
    waiting.push({ mail, settlement, settled });
    if (!isAtWork) void settleAll();
    return settled.promise;
  };
}
