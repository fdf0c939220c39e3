import type { z } from 'zod';

/** `upkeep` is for what starts by itself for all tenants: no tenant's work takes its places. */
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

/** Places of a queue in one worker, and how many of them one tenant may hold. */
export interface Places {
  places: number;
  perTenant: number;
}

/**
 * Jobs of a queue that one worker runs at once, for queues to which `WORKER_CONCURRENCY` is no fit. A queue whose jobs call servers of
 * tenants says what one tenant may hold of it, so that nobody else waits for servers that never answer.
 */
export type OwnConcurrency = { readonly [name in QueueName]?: number | Places };

/** At most a quarter for one tenant. */
export const quarterEach = (places: number): Places => ({ places, perTenant: Math.floor(places / 4) });

interface JobSettings<Payload> {
  /** `area.what`, unique in the product; no colon. */
  name: string;
  queue: QueueName;
  payload: z.ZodType<Payload>;
  /** Tries before the job counts as failed; the row it is about is found again by a sweep. */
  attempts: number;
  /** Pause before the second try, doubled each time, milliseconds. */
  backoffMs: number;
  /** What the job is about: at most one per key waits or runs, and a nudge that comes while one runs leads to exactly one more. */
  key: (payload: Payload) => string;
  /** Whether of its runs only one per key may be under way: the key is then their subject, and a second start is a conflict. */
  runsAlone?: boolean;
  /** The job is told to stop after this long, milliseconds. */
  timeoutMs: number;
}

/** A job as data, shared by who enqueues it and who handles it. Both sides parse the payload. */
export interface PlatformJob<Payload> extends JobSettings<Payload> {
  scope: 'platform';
  /** Whose share of the places the job takes, in a queue that has shares; null for none. */
  shareKey?: (payload: Payload) => string | null;
}

/** A job within one tenant: its handler gets a context bound to `payload.tenantId`, and it rests while the tenant is inactive. */
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
 * Nudges the worker after a row was written. Never throws and waits at most about a second:
 * when the queue is away, the sweep finds the row.
 */
export type Enqueue = <Job extends AnyJob>(
  job: Job,
  payload: PayloadOf<Job>,
  options?: EnqueueOptions,
) => Promise<void>;
