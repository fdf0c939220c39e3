import type { limits as domainLimits } from '@portal/domain/monitoring/limits';
import type { ServerKind } from './servers.ts';

/** The thresholds of packages/domain, for people. The pages take no values from there, but another number than there is a type error. */
export const limits: typeof domainLimits = {
  memoryPercent: { warning: 90, critical: 95 },
  rootPercent: { warning: 80, critical: 90 },
  swapPercent: { warning: 80 },
  storagePercent: { warning: 80, critical: 90 },
  diskLifePercent: { warning: 10 },
  certificateDays: { warning: 30, critical: 7 },
  subscriptionDays: { warning: 30 },
  fullInDays: { warning: 30, critical: 7 },
  lastBackupHours: 26,
  backupDelayHours: 2,
  groupAgeHours: { warning: 30, critical: 50 },
  failedBackupHours: 48,
  collectionDays: 14,
  managerMinutes: 2,
  deferredMails: { warning: 100, critical: 500 },
  oldMails: { warning: 50 },
  activeMails: { warning: 200, critical: 300 },
  signatureDays: { warning: 3, critical: 7 },
  spamRuleDays: { warning: 14 },
  outgoingMails: { warning: 0, critical: 20 },
  laggingMinutes: 15,
};

/** From which percentage what can fill up is a warning, and critical. */
export const usageLimits: Record<'storage' | 'memory' | 'root' | 'swap', { warning: number; critical?: number }> = {
  storage: limits.storagePercent,
  memory: limits.memoryPercent,
  root: limits.rootPercent,
  swap: limits.swapPercent,
};

const everywhere = ['certificate', 'subscription', 'version'] as const;
const hardware = ['disk', 'pool'] as const;

/** The rules of each kind, by the words that explain them. */
export const rulesOf = {
  virtualization: [
    'quorum',
    'node',
    'memory',
    'root',
    'swap',
    'storage',
    'guest',
    'unbacked',
    'lastBackup',
    'backupAge',
    'availability',
    'manager',
    'replication',
    ...hardware,
    'task',
    ...everywhere,
  ],
  backup: [
    'datastore',
    'storage',
    'fullIn',
    'groupAge',
    'failedBackup',
    'verification',
    'synchronization',
    'prune',
    'collection',
    'chunks',
    'memory',
    'root',
    'swap',
    ...hardware,
    ...everywhere,
  ],
  'mail-gateway': [
    'deferred',
    'oldMails',
    'active',
    'service',
    'signatures',
    'spamRules',
    'flow',
    'outgoing',
    'peer',
    'memory',
    'root',
    'swap',
    'task',
    ...everywhere,
  ],
} as const satisfies Record<ServerKind, readonly string[]>;

export type LimitedRule = (typeof rulesOf)[ServerKind][number];
