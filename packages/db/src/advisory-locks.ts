/**
 * The advisory locks of this product, in one place so that no two are the same. Any numbers do, but every release keeps them: two
 * releases run side by side while one follows the other.
 */
export const advisoryLocks = {
  /** A migrator, until it is done. */
  migration: 7_012_026,
  /** A first start, while it looks whether it has to seed. */
  seed: 5_150_331,
  /** A change that takes a SUPER_ADMIN away, until its transaction ends. */
  superAdmin: 3_405_691,
  /** A worker that sets the schedules. */
  schedules: 20_261_121,
  /** With the hash of a user's id: a change of that user's reminders, and, shared, who reads between two of them. */
  remindersOfUser: 20_261_107,
  /** With the hash of a tenant's id: whoever settles who of that tenant is told of which outage, until the transaction ends. */
  cloudNotices: 20_261_122,
  /** Whoever stores notices, since two at once could take one procurement for two. */
  tenderStore: 20_261_019,
  /** Two tenders becoming one, and, shared, a triage of any. */
  tenderMerges: 20_261_020,
  /** Whoever matches new tenders, and, shared, who changes a saved search: neither misses what the other is about to commit. */
  tenderMatching: 20_261_021,
  /** Whoever promises mails of tenders, so that no two claim the same. */
  tenderAlerts: 20_261_022,
} as const;
