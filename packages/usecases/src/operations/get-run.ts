import { and, eq } from 'drizzle-orm';
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

/** How a piece of started work stands: one's own, for administrators any of the tenant. */
export async function getRun(ctx: UserContext, id: string): Promise<Run> {
  const mayRead = isAdmin(ctx.actor) ? eq(runs.id, id) : and(eq(runs.id, id), eq(runs.startedBy, ctx.actor.id));
  const [run] = await ctx.read((db) => db.select().from(runs).where(mayRead));
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
