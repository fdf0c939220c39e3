import type { ServerKind } from './servers.ts';

/*
 * The home of all thresholds is packages/domain/src/monitoring: virtualization.ts, backup.ts, mail-gateway.ts, findings.ts and
 * storage-health.ts. The API has no route that tells them, so this file and limit-texts.ts repeat them for people. Who changes a threshold
 * there changes it here as well.
 */

/** From which percentage what can fill up is a warning, and critical. */
export const usageLimits: Record<'storage' | 'memory' | 'root' | 'swap', { warning: number; critical?: number }> = {
  storage: { warning: 80, critical: 90 },
  memory: { warning: 90, critical: 95 },
  root: { warning: 80, critical: 90 },
  swap: { warning: 80 },
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
