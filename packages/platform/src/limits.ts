import { availableParallelism } from 'node:os';
import type { SemaphoreLimits } from './semaphore.ts';

/** At most so many pieces of work at once in a process, and why. The key of a limit is the tenant unless said. */
type Limits = Readonly<Record<string, SemaphoreLimits>>;

/**
 * Calls that people wait for. Where nobody waits for a slot, what hangs would make them wait for longer than an answer may take: 15 s.
 */
export const callLimits = {
  /** One hash per core. At about 20 ms each the queue is a wait of some seconds on two cores; beyond it a caller is better told to come back. */
  passwordHashes: { slots: availableParallelism(), queueLimit: 500 },
  /** As long a queue as for hashes: a flood of guesses is told the same at any point. The key is the username and the address. */
  signIns: { perKey: 1, queueLimitPerKey: 500 },
  /** A directory that does not answer holds up its own tenant alone. */
  directoryBinds: { slots: 200, perKey: 8, queueLimit: 2_000, queueLimitPerKey: 500 },
  /** A silent server holds a slot for as long as it is waited for. It takes twelve tenants with two of them each to hold all. */
  directoryQuestions: { slots: 24, perKey: 2, queueLimit: 96, queueLimitPerKey: 3 },
  /** A silent server keeps waiting whose it is, for 15 s. It takes twelve such tenants to hold all slots, for 25 s each. */
  syncPreviews: { slots: 12, perKey: 1, queueLimit: 48, queueLimitPerKey: 2 },
  /** The database alone compares what has been read, and takes memory for it. No directory is waited for, so a turn is short. */
  syncComparisons: { slots: 2, queueLimit: 12 },
  serverTests: { slots: 40, perKey: 4, queueLimit: 0 },
  calendarTests: { slots: 40, perKey: 4, queueLimit: 0 },
  /** Each has a process of some 60 MB, so that nothing but the trial ends with what a server sends. */
  mailboxTrials: { slots: 12, perKey: 3, queueLimit: 0 },
  /** The key is the account. */
  ownMailboxTrials: { perKey: 2, queueLimitPerKey: 0 },
  /** Which is the sockets of a process. */
  cloudChecksByHand: { slots: 200, perKey: 20, queueLimit: 400, queueLimitPerKey: 100 },
  /** As many as there are processes for files, so that other work waits behind no more than what these are at. The key is the account. */
  calendarReadings: { slots: 2, perKey: 1, queueLimit: 1_000, queueLimitPerKey: 200 },
  /** Uploads with their files in memory: those at work and those that wait for it. */
  uploads: { slots: 40, perKey: 10, queueLimit: 0 },
  /** The key is the account. */
  ownUploads: { perKey: 1, queueLimitPerKey: 4 },
  largeIcons: { slots: 1, queueLimit: 20 },
  /** The key is whoever owns the icons. */
  ownLargeIcons: { perKey: 1, queueLimitPerKey: 2 },
} satisfies Limits;

/** How likely a server is to answer soon, most likely first: nobody waits behind one that hung the last time. */
export const urgency = { answered: 0, unknown: 1, hung: 2 } as const;

/** What jobs do. They wait for slots, and their signal ends the wait. A tenant has a quarter: servers that stall hold their slots for long. */
export const jobLimits = {
  /** Servers asked at once. Some slots are kept for those that answer. */
  serverPolls: { slots: 100, perKey: 25, leastUrgent: { urgency: urgency.hung, slots: 75, perKey: 20 } },
  /** Servers whose last look ended its process: one that does it again takes no other with it. */
  suspectServerPolls: { slots: 1 },
  /** Servers of one run at one host, which is the key, under whatever ports: they hang and stall together. One slot is kept for those that answer. */
  serverPollsAtHost: { perKey: 4, leastUrgent: { urgency: urgency.hung, slots: Infinity, perKey: 3 } },
  /** Servers whose large answers are held: 64 MiB of them in a process, each with 8 MiB. */
  largeServerAnswers: { slots: 8, perKey: 2 },
  /** Clouds asked at once, which is the sockets of a process. */
  cloudChecks: { slots: 500, perKey: 125 },
  /** Mails in memory, 25 MiB and their documents each. More than one tenant has, for its mail server may keep them for as long as a run lasts. */
  invoiceMails: { slots: 4, perKey: 2 },
  /** Synchronizations, one of each tenant. Some slots are kept for directories that could be read the last time. */
  directorySyncs: { slots: 10, leastUrgent: { urgency: urgency.hung, slots: 7 } },
} satisfies Limits;
