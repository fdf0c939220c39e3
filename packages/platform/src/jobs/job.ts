import type { z } from 'zod';

/** `upkeep` is for scheduled jobs that serve all tenants: tenants' jobs do not take its slots. */
export const queueNames = [
  'directory',
  'monitoring',
  'cloud-status',
  'mail',
  'tenders',
  'feeds',
  'mailboxes',
  'invoices',
  'icons',
  'upkeep',
] as const;
export type QueueName = (typeof queueNames)[number];

/** Slots of a queue in one worker, and how many of them one tenant may hold. */
export interface Places {
  places: number;
  perTenant: number;
}

/**
 * Jobs per queue that one worker runs at once, for queues where `WORKER_CONCURRENCY` does not fit. If a queue's jobs call tenants'
 * servers, each tenant has a limit, so that other tenants do not wait for servers that never answer.
 */
export type OwnConcurrency = { readonly [name in QueueName]?: number | Places };

/** At most a quarter per tenant. */
export const quarterEach = (places: number): Places => ({ places, perTenant: Math.floor(places / 4) });

interface JobSettings<Payload> {
  /** `area.what`, unique in the product; no colon. */
  name: string;
  queue: QueueName;
  payload: z.ZodType<Payload>;
  /** Attempts before the job fails; a sweep finds its row again. */
  attempts: number;
  /** Pause before the second attempt in milliseconds, doubled each time. */
  backoffMs: number;
  /** The job's subject. At most one job per key waits or runs; nudges during a run lead to exactly one more run. */
  key: (payload: Payload) => string;
  /**
   * Whether only one run per key may be unfinished: the key is then the run's subject, and a second start is a conflict. A subject given
   * with each start could differ from the key, and two runs would share one job.
   */
  runsAlone?: boolean;
  /** The job's signal is aborted after this many milliseconds. */
  timeoutMs: number;
}

/** A job declaration, shared by producers and handlers. Both sides parse the payload. */
export interface PlatformJob<Payload> extends JobSettings<Payload> {
  scope: 'platform';
  /** In a queue with shares: the key of the share that the job uses; null for none. */
  shareKey?: (payload: Payload) => string | null;
}

/** A job within one tenant: its handler gets a context bound to `payload.tenantId`. Jobs of inactive tenants are skipped. */
export interface TenantJob<Payload extends { tenantId: string }> extends JobSettings<Payload> {
  scope: 'tenant';
}

// oxlint-disable-next-line typescript/no-explicit-any -- a list of jobs holds jobs of every payload
export type AnyJob = PlatformJob<any> | TenantJob<any>;
export type PayloadOf<Job extends AnyJob> = z.output<Job['payload']>;

export const definePlatformJob = <Payload>(settings: Omit<PlatformJob<Payload>, 'scope'>): PlatformJob<Payload> => ({
  ...settings,
  scope: 'platform',
});

export const defineTenantJob = <Payload extends { tenantId: string }>(
  settings: JobSettings<Payload>,
): TenantJob<Payload> => ({
  ...settings,
  scope: 'tenant',
});

export interface EnqueueOptions {
  delayMs?: number;
  /** The run the job carries out, see `startRun`. */
  runId?: string;
}

/**
 * Nudges the worker after a row was written. Never throws, and waits about a second at most. If the queue cannot be reached, the sweep
 * finds the row later.
 */
export type Enqueue = <Job extends AnyJob>(
  job: Job,
  payload: PayloadOf<Job>,
  options?: EnqueueOptions,
) => Promise<void>;
