/**
 * All advisory locks of this product, in one place so that no two collide. The numbers are arbitrary but must never change: two
 * releases run side by side during an update.
 */
export const advisoryLocks = {
  /** Held by a migration until it ends. */
  migration: 7_012_026,
  /** Held by a first start while it checks whether to seed. */
  seed: 5_150_331,
  /** Held by a transaction that removes a SUPER_ADMIN. */
  superAdmin: 3_405_691,
  /** Held by the worker that sets the schedules. */
  schedules: 20_261_121,
  /** With the hash of a user's id: exclusive for a change of that user's reminders, shared for reads between two changes. */
  remindersOfUser: 20_261_107,
  /** With the hash of a tenant's id: held by the transaction that decides which accounts of the tenant get mail about which outage. */
  cloudNotices: 20_261_122,
  /** Held while notices are stored: two concurrent writers could store one procurement as two tenders. */
  tenderStore: 20_261_019,
  /** Exclusive for merging two tenders, shared for triage. */
  tenderMerges: 20_261_020,
  /** Exclusive for matching new tenders, shared for changing a saved search: neither misses what the other is about to commit. */
  tenderMatching: 20_261_021,
  /** Held while tender mails are queued, so that no two transactions claim the same matches. */
  tenderAlerts: 20_261_022,
} as const;
