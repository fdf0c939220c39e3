import { LdapConfigInput } from '@portal/domain/directory/config';
import { syncDirectory } from '@portal/usecases/directory/jobs';
import { getLdapConfig, putLdapConfig } from '@portal/usecases/directory/ldap-config';
import { listSyncRuns } from '@portal/usecases/directory/list-sync-runs';
import { startSync } from '@portal/usecases/directory/start-sync';
import { performRun } from './act.ts';
import type { Demo } from './fill.ts';

/** A directory with four more people, and its first sync. */
export async function fillDirectory({ runtime, systems, tenantId, as }: Demo): Promise<void> {
  const { url, baseDn, adminDn, adminPassword } = systems.directory;
  await as('mara.muster', async (ctx) => {
    if ((await getLdapConfig(ctx)).serverUrl !== url)
      await putLdapConfig(
        ctx,
        LdapConfigInput.parse({
          serverUrl: url,
          baseDn,
          bindDn: adminDn,
          bindPassword: adminPassword,
          userExcludeList: ['administrator'],
        }),
      );
    if ((await listSyncRuns(ctx, { limit: 1 })).items.length > 0) return;
    // Adds the run without queueing its job: the demo needs no worker.
    const { runId } = await startSync({ ...ctx, enqueue: async () => undefined }, {});
    await performRun(runtime, syncDirectory, { tenantId, force: false }, runId);
  });
}
