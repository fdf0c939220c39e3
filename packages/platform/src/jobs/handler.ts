import type { TenantContext, SystemContext } from '../context.ts';
import type { RunAtWork } from '../runs/state.ts';
import type { Runtime } from '../runtime.ts';
import type { AnyJob, PlatformJob, TenantJob } from './job.ts';

/** The job at work, as the handler sees it. */
export interface Work {
  /** Aborted on timeout, when the worker stops, or when another worker has taken over the job. To stop early, throw. */
  signal: AbortSignal;
  actorId: string | null;
  /** The run that the job carries out, if any. */
  run: RunAtWork | null;
  /** Shown to users who watch the run, if any; calls are cheap. */
  progress(done: number, total: number): void;
}

export interface Handler {
  job: AnyJob;
  perform(
    runtime: Runtime,
    from: { requestId: string; actorId: string | null },
    payload: never,
    work: Work,
  ): Promise<unknown>;
}

/** Binds a job to its use case. A tenant job's context reaches only that tenant. */
export function handle<Payload extends { tenantId: string }>(
  job: TenantJob<Payload>,
  work: (ctx: TenantContext, payload: Payload, work: Work) => Promise<unknown>,
): Handler;
export function handle<Payload>(
  job: PlatformJob<Payload>,
  work: (system: SystemContext, payload: Payload, work: Work) => Promise<unknown>,
): Handler;
export function handle(job: AnyJob, work: (ctx: never, payload: never, work: Work) => Promise<unknown>): Handler {
  return {
    job,
    perform(runtime, { requestId, actorId }, payload, details) {
      const origin = { requestId, ip: null, userAgent: null, ...(actorId === null ? {} : { actorId }) };
      const ctx =
        job.scope === 'tenant'
          ? runtime.tenant(origin, (payload as { tenantId: string }).tenantId)
          : runtime.system(origin);
      return work(ctx as never, payload, details);
    },
  };
}
