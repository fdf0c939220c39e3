import { violatedConstraint } from '@portal/db/open';
import { ldapSyncRuns } from '@portal/db/schema/directory';
import { conflict } from '@portal/domain/errors';
import { addRun } from '../operations/start-run.ts';
import type { Ctx } from '../run/context.ts';
import { syncDirectory } from './jobs.ts';
import { configuredDirectory } from './stored-ldap-config.ts';

/**
 * Starts a synchronization, also of a directory that is switched off; `force` lets it take away more than the brake allows.
 * Throws 409 `DIRECTORY_NOT_CONFIGURED` and, while one is under way, 409 `SYNC_RUNNING`.
 */
export async function startSync(
  ctx: Ctx,
  { force = false }: { force?: boolean | undefined },
): Promise<{ runId: string }> {
  await configuredDirectory(ctx);
  const payload = { tenantId: ctx.tenantId, force };
  try {
    const runId = await ctx.tx(async (tx) => {
      const id = await addRun(tx, syncDirectory, payload, { startedBy: ctx.actor.id });
      await tx.insert(ldapSyncRuns).values({ id, tenantId: ctx.tenantId, trigger: 'manual' });
      return id;
    });
    await ctx.enqueue(syncDirectory, payload, { runId });
    return { runId };
  } catch (error) {
    if (violatedConstraint(error) !== 'runs_directory_sync_unique') throw error;
    throw conflict('SYNC_RUNNING', 'A synchronization is already under way. Please wait for its end.', {
      cause: error,
    });
  }
}
