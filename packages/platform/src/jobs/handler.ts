import type { TenantContext, SystemContext } from '../context.ts';
import type { RunAtWork } from '../runs/state.ts';
import type { Runtime } from '../runtime.ts';
import type { AnyJob, PlatformJob, TenantJob } from './job.ts';

/** What a handler is told about the piece of work it does, and how it tells how far it is. */
export interface Work {
  /** Aborted when the job's time is up, when the worker stops, or when another worker took the job over. Stop early by throwing. */
  signal: AbortSignal;
  actorId: string | null;
  /** The run the job carries out, if it does. */
  run: RunAtWork | null;
  /** Shown to those who watch the run, if the job carries one out; call it as often as you like. */
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

/** Binds a job to the use case that does it. A tenant job's context reaches that tenant alone. */
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
