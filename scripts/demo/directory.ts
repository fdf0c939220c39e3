import { LdapConfigInput } from '@portal/domain/directory/config';
import { syncDirectory } from '@portal/usecases/directory/jobs';
import { getLdapConfig, putLdapConfig } from '@portal/usecases/directory/ldap-config';
import { listSyncRuns } from '@portal/usecases/directory/list-sync-runs';
import { startSync } from '@portal/usecases/directory/start-sync';
import { carryOutRun } from './act.ts';
import type { Demo } from './fill.ts';

/** A directory of four more people, and how it was brought in. */
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
    // No worker is told of it: there need not be one.
    const { runId } = await startSync({ ...ctx, enqueue: async () => undefined }, {});
    await carryOutRun(runtime, syncDirectory, { tenantId, force: false }, runId);
  });
}
