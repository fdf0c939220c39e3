import type { RestoreCancellation } from './cancel-after-restore.ts';
import type { FileOwner } from './files/sweep-orphans.ts';
import type { AnyJob, OwnConcurrency } from './jobs/job.ts';
import type { Schedule } from './jobs/schedules.ts';
import type { AnyOutboxMail, OutboxMails } from './outbox/mail.ts';
import type { Retention } from './retention.ts';
import type { SealedColumn } from './secrets/sealed-column.ts';

/**
 * An area's declaration. `packages/usecases/src/areas.ts` lists all areas; the worker's jobs and schedules, the outbox, the nightly
 * removals, the key rotation and the API document are built from that list.
 */
export interface Area {
  /** Its folder in every package, and the prefix of its jobs and mails. */
  name: string;
  /** Tags of its routes in the API document, in reading order, each with one sentence. */
  tags?: Record<string, string>;
  /** Its jobs. Their handlers are in its `handlers.ts`, which only the worker loads. */
  jobs?: AnyJob[];
  /** Jobs that start on a schedule. */
  schedules?: Schedule[];
  /** For its queues whose jobs mostly wait for I/O: how many of them a worker runs at once. */
  concurrency?: OwnConcurrency;
  /** Kinds of mail that it sends through the outbox. */
  mails?: AnyOutboxMail[];
  /** Rows that are removed after a time. */
  retention?: Retention[];
  /** Pending notifications that must not be sent from a restored backup. */
  cancelAfterRestore?: RestoreCancellation[];
  /** Columns that hold sealed secrets. A column missing here becomes unreadable when its key is removed. */
  sealedColumns?: SealedColumn[];
  /** Columns that hold file paths; a file that no row names is removed. */
  files?: FileOwner[];
  /** Its audit actions, `area.what`. */
  auditActions?: readonly string[];
}

/** All jobs of the areas. */
export const jobsOf = (areas: readonly Area[]): AnyJob[] => areas.flatMap(({ jobs = [] }) => jobs);

/** The concurrency settings of all areas. Throws if two areas set the same queue. */
export function concurrencyOf(areas: readonly Area[]): OwnConcurrency {
  const settings = areas.flatMap(({ concurrency = {} }) => Object.entries(concurrency));
  const byQueue: OwnConcurrency = Object.fromEntries(settings);
  if (Object.keys(byQueue).length < settings.length) throw new Error('two areas set the concurrency of one queue');
  return byQueue;
}

/** All kinds of mail by name. Throws if two share a name. */
export function mailsOf(areas: readonly Area[]): OutboxMails {
  const mails = areas.flatMap(({ mails = [] }) => mails);
  const byKind = new Map(mails.map((mail) => [mail.kind, mail]));
  if (byKind.size < mails.length) throw new Error('two kinds of mail share a name');
  return byKind;
}
