import { availableParallelism } from 'node:os';
import type { SemaphoreLimits } from './semaphore.ts';

/** Limits of concurrent work in a process. The key is the tenant unless a comment names another. */
type Limits = Readonly<Record<string, SemaphoreLimits>>;

/**
 * Calls that users wait for. A `queueLimit` of 0 means that calls do not wait for a slot: behind hanging work they would wait longer than
 * the 15 s within which an answer must come.
 */
export const callLimits = {
  /** One hash per core. At about 20 ms each, a full queue takes some seconds on two cores; further callers had better retry later. */
  passwordHashes: { slots: availableParallelism(), queueLimit: 500 },
  /** The queue is as long as for hashes, so a flood of guesses gets the same answer everywhere. The key is username and address. */
  signIns: { perKey: 1, queueLimitPerKey: 500 },
  /** A directory that does not answer delays only its own tenant. */
  directoryBinds: { slots: 200, perKey: 8, queueLimit: 2_000, queueLimitPerKey: 500 },
  /** A silent server holds a slot until the timeout. All slots are held only if twelve tenants have two such servers each. */
  directoryQuestions: { slots: 24, perKey: 2, queueLimit: 96, queueLimitPerKey: 3 },
  /** A silent server makes its own tenant wait, for 15 s. Only twelve such tenants hold all slots, for 25 s each. */
  syncPreviews: { slots: 12, perKey: 1, queueLimit: 48, queueLimitPerKey: 2 },
  /** The database compares what was read, which takes memory. This waits for no directory, so each comparison is short. */
  syncComparisons: { slots: 2, queueLimit: 12 },
  serverTests: { slots: 40, perKey: 4, queueLimit: 0 },
  calendarTests: { slots: 40, perKey: 4, queueLimit: 0 },
  /** Each trial has its own process of about 60 MB, so that a server's answer can only end the trial. */
  mailboxTrials: { slots: 12, perKey: 3, queueLimit: 0 },
  /** The key is the account. */
  ownMailboxTrials: { perKey: 2, queueLimitPerKey: 0 },
  /** Also the number of sockets in the process. */
  cloudChecksByHand: { slots: 200, perKey: 20, queueLimit: 400, queueLimitPerKey: 100 },
  /** As many as there are sandbox processes, so that other work waits only for the readings in progress. The key is the account. */
  calendarReadings: { slots: 2, perKey: 1, queueLimit: 1_000, queueLimitPerKey: 200 },
  /** Uploads whose files are in memory, running or waiting. */
  uploads: { slots: 40, perKey: 10, queueLimit: 0 },
  /** The key is the account. */
  ownUploads: { perKey: 1, queueLimitPerKey: 4 },
  largeIcons: { slots: 1, queueLimit: 20 },
  /** The key is the owner of the icons. */
  ownLargeIcons: { perKey: 1, queueLimitPerKey: 2 },
} satisfies Limits;

/** Servers that answered last time go first, so that they do not wait behind one that hung. */
export const urgency = { answered: 0, unknown: 1, hung: 2 } as const;

/** Work of jobs. Jobs wait for slots until their signal is aborted. A tenant has a quarter, because stalled servers hold slots for long. */
export const jobLimits = {
  /** Concurrent server polls. Some slots are reserved for servers that answer. */
  serverPolls: { slots: 100, perKey: 25, leastUrgent: { urgency: urgency.hung, slots: 75, perKey: 20 } },
  /** Servers whose last poll crashed its process; polled alone, so that another crash affects no other server. */
  suspectServerPolls: { slots: 1 },
  /** Servers of one run on one host (the key), on any port: they hang together. One slot is reserved for servers that answer. */
  serverPollsAtHost: { perKey: 4, leastUrgent: { urgency: urgency.hung, slots: Infinity, perKey: 3 } },
  /** Servers whose large answers are in memory: 64 MiB per process, 8 MiB each. */
  largeServerAnswers: { slots: 8, perKey: 2 },
  /** Concurrent cloud checks, which is also the number of sockets in the process. */
  cloudChecks: { slots: 500, perKey: 125 },
  /** Mails in memory, each 25 MiB plus its documents. One tenant gets half: a slow mail server may hold its slots for a whole run. */
  invoiceMails: { slots: 4, perKey: 2 },
  /** Synchronizations, one per tenant. Some slots are reserved for directories that could be read last time. */
  directorySyncs: { slots: 10, leastUrgent: { urgency: urgency.hung, slots: 7 } },
} satisfies Limits;
