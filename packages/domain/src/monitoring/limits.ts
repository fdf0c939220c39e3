/** From when the rules of monitoring call something a warning or critical. The pages explain these numbers to people. */
export const limits = {
  memoryPercent: { warning: 90, critical: 95 },
  rootPercent: { warning: 80, critical: 90 },
  swapPercent: { warning: 80 },
  storagePercent: { warning: 80, critical: 90 },
  /** What is left of the life of a disk. */
  diskLifePercent: { warning: 10 },
  certificateDays: { warning: 30, critical: 7 },
  subscriptionDays: { warning: 30 },
  /** Until a datastore is full. */
  fullInDays: { warning: 30, critical: 7 },
  /** How long the last backup of a node and job counts. */
  lastBackupHours: 26,
  /** How late a backup may begin. */
  backupDelayHours: 2,
  groupAgeHours: { warning: 30, critical: 50 },
  /** How long a failed backup counts. */
  failedBackupHours: 48,
  /** How long a garbage collection may be overdue at least. */
  collectionDays: 14,
  /** How long a resource manager may be silent. */
  managerMinutes: 2,
  deferredMails: { warning: 100, critical: 500 },
  oldMails: { warning: 50 },
  activeMails: { warning: 200, critical: 300 },
  signatureDays: { warning: 3, critical: 7 },
  /** More than these. */
  spamRuleDays: { warning: 14 },
  /** Mails with spam or viruses in a day: more than these. */
  outgoingMails: { warning: 0, critical: 20 },
  /** How long a node may lag behind the others. */
  laggingMinutes: 15,
} as const;
