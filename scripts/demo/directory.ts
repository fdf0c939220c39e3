import { LdapConfigInput } from '@portal/domain/directory/config';
import { syncDirectory } from '@portal/usecases/directory/jobs';
import { getLdapConfig, putLdapConfig } from '@portal/usecases/directory/ldap-config';
import { listSyncRuns } from '@portal/usecases/directory/list-sync-runs';
import { carryOut } from './act.ts';
import type { Demo } from './fill.ts';

/** A directory of four more people, and how it was brought in. */
export async function fillDirectory({ runtime, systems, tenantId, as }: Demo): Promise<void> {
  const { url, baseDn, adminDn, adminPassword } = systems.directory;
  await as('mara.muster', async (ctx) => {
    if ((await getLdapConfig(ctx)).serverUrl === url) return;
    await putLdapConfig(
      ctx,
      LdapConfigInput.parse({ serverUrl: url, baseDn, bindDn: adminDn, bindPassword: adminPassword }),
    );
  });
  const { items } = await listSyncRuns(runtime.tenant({ requestId: 'demo', ip: null, userAgent: null }, tenantId), {
    limit: 1,
  });
  if (items.length === 0) await carryOut(runtime, syncDirectory, { tenantId, force: false });
}
