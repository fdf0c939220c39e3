import { ldapSyncRuns } from '@portal/db/schema/directory';
import type { UserContext } from '@portal/platform/context';
import { addRun, conflictWithUnfinished } from '@portal/platform/runs/start';
import { syncDirectory } from './jobs.ts';
import { configuredDirectory } from './stored-ldap-config.ts';

/**
 * Starts a synchronization, even if the directory is switched off. `force` allows it to exceed the deactivation limit.
 * Throws 409 `DIRECTORY_NOT_CONFIGURED`, and 409 `SYNC_RUNNING` while another one is running.
 */
export async function startSync(
  ctx: UserContext,
  { force = false }: { force?: boolean | undefined },
): Promise<{ runId: string }> {
  await configuredDirectory(ctx);
  const payload = { tenantId: ctx.tenantId, force };
  const runId = await ctx
    .tx(async (tx) => {
      const id = await addRun(tx, syncDirectory, payload, { startedBy: ctx.actor.id });
      await tx.insert(ldapSyncRuns).values({ id, tenantId: ctx.tenantId, trigger: 'manual' });
      return id;
    })
    .catch(conflictWithUnfinished('SYNC_RUNNING'));
  await ctx.enqueue(syncDirectory, payload, { runId });
  return { runId };
}
