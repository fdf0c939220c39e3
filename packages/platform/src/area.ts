import type { RestoreCancellation } from './cancel-after-restore.ts';
import type { FileOwner } from './files/sweep-orphans.ts';
import type { AnyJob, OwnConcurrency } from './jobs/job.ts';
import type { Schedule } from './jobs/schedules.ts';
import type { AnyOutboxMail, OutboxMails } from './outbox/mail.ts';
import type { Retention } from './retention.ts';
import type { SealedColumn } from './secrets/sealed-column.ts';

/**
 * What an area says of itself, once. `packages/usecases/src/areas.ts` lists the areas, and everything that goes through all of them
 * is made from that list: the worker's jobs and schedules, the outbox, the nightly removals, the rotation of keys, the API document.
 */
export interface Area {
  /** Its folder in every package, and the first word of its jobs and mails. */
  name: string;
  /** Tags of its routes in the API document, in the order a reader meets them, each with one sentence. */
  tags?: Record<string, string>;
  /** Its jobs. What does them stands in its `handlers.ts`, which the worker alone loads. */
  jobs?: AnyJob[];
  /** Jobs that start by themselves. */
  schedules?: Schedule[];
  /** Queues of its own whose jobs wait more than they work: how many of them a worker runs at once. */
  concurrency?: OwnConcurrency;
  /** Kinds of mail that go through the outbox. */
  mails?: AnyOutboxMail[];
  /** Rows that are kept for a time only. */
  retention?: Retention[];
  /** What a restored backup would tell people once more: a mail of a day that is over. */
  cancelAfterRestore?: RestoreCancellation[];
  /** Columns that hold sealed secrets: one that is missing here becomes unreadable when a key is taken away. */
  sealedColumns?: SealedColumn[];
  /** Columns that keep paths of files: a file that none of them names is removed. */
  files?: FileOwner[];
  /** What the audit log can say of it, `area.what`. */
  auditActions?: readonly string[];
}

/** Every job there is. */
export const jobsOf = (areas: readonly Area[]): AnyJob[] => areas.flatMap(({ jobs = [] }) => jobs);

/** What areas say of their queues, together. Throws when two speak of one. */
export function concurrencyOf(areas: readonly Area[]): OwnConcurrency {
  const said = areas.flatMap(({ concurrency = {} }) => Object.entries(concurrency));
  const byQueue: OwnConcurrency = Object.fromEntries(said);
  if (Object.keys(byQueue).length < said.length) throw new Error('two areas set the concurrency of one queue');
  return byQueue;
}

/** Every kind of mail by name. Throws when two share one. */
export function mailsOf(areas: readonly Area[]): OutboxMails {
  const mails = areas.flatMap(({ mails = [] }) => mails);
  const byKind = new Map(mails.map((mail) => [mail.kind, mail]));
  if (byKind.size < mails.length) throw new Error('two kinds of mail share a name');
  return byKind;
}
