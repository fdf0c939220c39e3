import type { MailHead } from '@portal/connectors/imap/mailbox';
import type { Fetching } from './fetching.ts';
import { fingerprintOf, knownOutcomes, type MailOutcome, rememberKnown } from './seen-mails.ts';
import type { MailBeingTaken } from './take-mail.ts';

interface Taking {
  /** Begins to download a mail and to read it. */
  begin: (head: MailHead) => MailBeingTaken;
  /** Whether another mail may be begun. */
  hasTime: () => boolean;
  /** Mails that may be downloaded. */
  most: number;
  onSettled: () => void;
}

/**
 * Deals with mails in their order, so that what is behind the last one that was seen is what is left: those that have come before are
 * remembered, the others taken, the next one being read while one is written. Answers how many were settled, all of them unless the run
 * is over, and how many of those were downloaded.
 */
export async function takeMails(
  fetching: Fetching,
  heads: MailHead[],
  { begin, hasTime, most, onSettled }: Taking,
): Promise<{ settled: number; taken: number }> {
  const mails = heads.map((head) => ({ head, print: fingerprintOf(head).toString('hex') }));
  let known = await knownOutcomes(fetching, heads);
  const begun = new Set<string>();
  let toRemember: { head: MailHead; outcome: MailOutcome }[] = [];
  const remember = async () => {
    if (toRemember.length > 0) await rememberKnown(fetching, toRemember);
    toRemember = [];
  };
  let ahead: { head: MailHead; taking: MailBeingTaken } | null = null;
  let settled = 0;
  let taken = 0;
  try {
    for (const [at, { head, print }] of mails.entries()) {
      // It came twice, and the first one has been dealt with a moment ago.
      if (begun.has(print) && ahead?.head !== head) known = await knownOutcomes(fetching, heads);
      const outcome = known.get(print);
      if (outcome !== undefined) toRemember.push({ head, outcome });
      else {
        const isAhead: boolean = ahead?.head === head;
        if (!isAhead && (taken >= most || !hasTime())) break;
        await remember();
        using taking: MailBeingTaken = isAhead && ahead ? ahead.taking : begin(head);
        begun.add(print);
        const next: (typeof mails)[number] | undefined =
          taken + 1 < most && hasTime()
            ? mails.slice(at + 1).find((one) => !known.has(one.print) && !begun.has(one.print))
            : undefined;
        ahead = next ? { head: next.head, taking: begin(next.head) } : null;
        if (next) begun.add(next.print);
        if (!(await taking.settle())) break;
        taken += 1;
      }
      settled += 1;
      onSettled();
    }
  } finally {
    ahead?.taking[Symbol.dispose]();
  }
  await remember();
  return { settled, taken };
}
