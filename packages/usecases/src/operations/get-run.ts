import { and, arrayContains, eq, isNull, or } from 'drizzle-orm';
import { runs } from '@portal/db/schema/platform/operations';
import { isAdmin } from '@portal/domain/access';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';

export interface Run {
  id: string;
  kind: string;
  state: 'queued' | 'running' | 'succeeded' | 'failed';
  startedAt: Date | null;
  finishedAt: Date | null;
  progress: { done: number; total: number } | null;
  error: string | null;
}

/** A run the caller started or joined; administrators get any run of the tenant, a SUPER_ADMIN also those of the platform. Throws 404. */
export async function getRun(ctx: UserContext, id: string): Promise<Run> {
  const { id: actorId } = ctx.actor;
  const isOwn = or(eq(runs.startedBy, actorId), arrayContains(runs.joinedBy, [actorId]));
  const mayRead = isAdmin(ctx.actor) ? eq(runs.id, id) : and(eq(runs.id, id), isOwn);
  const [run = await platformRun(ctx, id)] = await ctx.read((db) => db.select().from(runs).where(mayRead));
  if (!run) throw notFound();
  const { kind, state, startedAt, finishedAt, done, total, error } = run;
  return {
    id,
    kind,
    state,
    startedAt,
    finishedAt,
    progress: done === null || total === null ? null : { done, total },
    error,
  };
}

async function platformRun(ctx: UserContext, id: string) {
  if (ctx.actor.role !== 'SUPER_ADMIN') return undefined;
  const [run] = await ctx.acrossTenants('runs of the platform belong to no tenant', (tx) =>
    tx
      .select()
      .from(runs)
      .where(and(eq(runs.id, id), isNull(runs.tenantId))),
  );
  return run;
}
