import type { MailHead } from '@portal/connectors/imap/mailbox';
import { mailsAtOnce, type PendingMail } from './download-mail.ts';
import type { Fetching } from './fetching.ts';
import { fingerprintOf, knownOutcomes, type MailOutcome } from './seen-mails.ts';
import { settleMails } from './settle-mails.ts';

interface FetchOptions {
  /** Starts to download and read a mail. */
  begin: (head: MailHead) => PendingMail;
  /** Whether another mail may be started. */
  hasTime: () => boolean;
  /** Maximum number of downloads. */
  maxMails: number;
  onSettled: () => void;
  signal: AbortSignal;
}

/** A queued mail: already known, or being downloaded. */
type QueuedMail = { head: MailHead; outcome: MailOutcome } | { head: MailHead; pending: PendingMail };

/**
 * Settles mails in their order, so that the remaining mails are always those after the last UID seen. Known mails are only recorded; the
 * others are downloaded. Mails are read while earlier ones are written, and mails that become ready in the meantime are written together:
 * one by one, 200 mails took 4.2 times as long as their downloads and parsing alone.
 * Returns how many were settled (all of them unless the run is over) and how many downloads were started.
 */
export async function fetchMails(
  fetching: Fetching,
  heads: MailHead[],
  { begin, hasTime, maxMails, onSettled, signal }: FetchOptions,
): Promise<{ settled: number; downloaded: number }> {
  const known = await knownOutcomes(fetching, heads);
  let queue: QueuedMail[] = [];
  let next = 0;
  let settled = 0;
  let downloaded = 0;

  function fill(): void {
    for (const head of heads.slice(next)) {
      const outcome = known.get(fingerprintOf(head).toString('hex'));
      if (outcome !== undefined) {
        queue.push({ head, outcome });
      } else {
        if (queue.filter((mail) => 'pending' in mail).length === mailsAtOnce) return;
        if (downloaded === maxMails || !hasTime()) return;
        downloaded += 1;
        queue.push({ head, pending: begin(head) });
      }
      next += 1;
    }
  }

  try {
    for (;;) {
      fill();
      const [first] = queue;
      if (first === undefined) break;
      if ('pending' in first) await first.pending.download;
      const ready = readyMails(queue);
      const count = await settleMails(fetching, ready, { onSettled, signal });
      settled += count;
      if (count < ready.length) break;
      for (const mail of queue.slice(0, count)) dispose(mail);
      queue = queue.slice(count);
    }
  } finally {
    for (const mail of queue) dispose(mail);
  }
  return { settled, downloaded };
}

/** The mails at the front of the queue whose result is known. */
function readyMails(queue: QueuedMail[]) {
  const ready: Parameters<typeof settleMails>[1] = [];
  for (const mail of queue) {
    const download = 'outcome' in mail ? { kind: 'known' as const, outcome: mail.outcome } : mail.pending.result();
    if (download === null) break;
    ready.push({ head: mail.head, download });
  }
  return ready;
}

function dispose(mail: QueuedMail): void {
  if ('pending' in mail) mail.pending[Symbol.dispose]();
}
