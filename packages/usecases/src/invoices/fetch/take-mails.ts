import type { MailHead } from '@portal/connectors/imap/mailbox';
import type { Fetching } from './fetching.ts';
import { fingerprintOf, knownOutcomes, type MailOutcome } from './seen-mails.ts';
import { settleMails } from './settle-mails.ts';
import { type MailBeingTaken, mailsAtOnce } from './take-mail.ts';

interface Taking {
  /** Begins to download a mail and to read it. */
  begin: (head: MailHead) => MailBeingTaken;
  /** Whether another mail may be begun. */
  hasTime: () => boolean;
  /** Mails that may be downloaded. */
  most: number;
  onSettled: () => void;
  signal: AbortSignal;
}

/** A mail whose turn comes: it is known, or is being taken. */
type InLine = { head: MailHead; outcome: MailOutcome } | { head: MailHead; taking: MailBeingTaken };

/**
 * Deals with mails in their order, so that what is behind the last one that was seen is what is left: those that are known are noted, the
 * others taken. Some are read while those before them are written, and whatever has been read meanwhile is written
 * together. Answers how many were settled, all of them unless the run is over, and how many of those were downloaded.
 */
export async function takeMails(
  fetching: Fetching,
  heads: MailHead[],
  { begin, hasTime, most, onSettled, signal }: Taking,
): Promise<{ settled: number; taken: number }> {
  const known = await knownOutcomes(fetching, heads);
  let line: InLine[] = [];
  let next = 0;
  let settled = 0;
  let taken = 0;

  function fill(): void {
    for (const head of heads.slice(next)) {
      const outcome = known.get(fingerprintOf(head).toString('hex'));
      if (outcome !== undefined) {
        line.push({ head, outcome });
      } else {
        if (line.filter((one) => 'taking' in one).length === mailsAtOnce) return;
        if (taken === most || !hasTime()) return;
        taken += 1;
        line.push({ head, taking: begin(head) });
      }
      next += 1;
    }
  }

  try {
    for (;;) {
      fill();
      const [first] = line;
      if (first === undefined) break;
      if ('taking' in first) await first.taking.download;
      const ready = readyOf(line);
      const count = await settleMails(fetching, ready, { onSettled, signal });
      settled += count;
      if (count < ready.length) break;
      for (const one of line.slice(0, count)) dispose(one);
      line = line.slice(count);
    }
  } finally {
    for (const one of line) dispose(one);
  }
  return { settled, taken };
}

/** Those at the front whose outcome is known. */
function readyOf(line: InLine[]) {
  const ready: Parameters<typeof settleMails>[1] = [];
  for (const one of line) {
    const came = 'outcome' in one ? { kind: 'known' as const, outcome: one.outcome } : one.taking.came();
    if (came === null) break;
    ready.push({ head: one.head, came });
  }
  return ready;
}

function dispose(one: InLine): void {
  if ('taking' in one) one.taking[Symbol.dispose]();
}
