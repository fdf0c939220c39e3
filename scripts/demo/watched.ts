import { NewCloudInstance } from '@portal/domain/cloud-status/instances';
import { svgIcon } from '@portal/testing/icons';
import { serverForm } from '@portal/testing/monitoring';
import { createCloudInstance, listCloudInstances, updateCloudInstance } from '@portal/usecases/cloud-status/instances';
import { checkAllInstances } from '@portal/usecases/cloud-status/jobs';
import { uploadLogo } from '@portal/usecases/cloud-status/logo';
import { subscribe } from '@portal/usecases/cloud-status/subscriptions';
import { listTransitions } from '@portal/usecases/cloud-status/transitions';
import { pollServers } from '@portal/usecases/monitoring/jobs';
import { createServer, listServers, putServer } from '@portal/usecases/monitoring/servers';
import { performJob } from './act.ts';
import type { Demo } from './fill.ts';
import { clouds } from './made-up.ts';

/** Healthy and failing servers and clouds, with their history. */
export async function fillWatched(demo: Demo): Promise<void> {
  await fillServers(demo);
  await fillClouds(demo);
}

const serverNames = { virtualization: 'Cluster Nord', backup: 'Sicherung Rathaus', 'mail-gateway': 'Mail-Gateway' };

async function fillServers({ runtime, systems, tenantId, as }: Demo): Promise<void> {
  const wasPolled = await as('jonas.beispiel', async (ctx) => {
    const known = await listServers(ctx);
    for (const server of systems.watched) {
      const form = serverForm(server, { name: serverNames[server.kind] });
      const before = known.find(({ name }) => name === form.name);
      if (before === undefined) await createServer(ctx, form);
      else if (before.address !== form.address) await putServer(ctx, before.id, form);
    }
    return known.some(({ status }) => status.checkedAt !== null);
  });
  if (!wasPolled) await performJob(runtime, pollServers, { tenantId });
}

async function fillClouds({ runtime, systems, tenantId, as }: Demo): Promise<void> {
  const hasHistory = await as('jonas.beispiel', async (ctx) => {
    const known = await listCloudInstances(ctx);
    for (const { folder, customerName } of clouds) {
      const statusUrl = `${systems.clouds.origin}/${folder}`;
      const before = known.find((one) => one.customerName === customerName);
      if (before === undefined) {
        const { id } = await createCloudInstance(ctx, NewCloudInstance.parse({ customerName, statusUrl }));
        await subscribe(ctx, id);
        if (folder === 'bad') await uploadLogo(ctx, id, async () => svgIcon());
      } else if (before.statusUrl !== statusUrl) await updateCloudInstance(ctx, before.id, { statusUrl });
    }
    return (await listTransitions(ctx, { limit: 1 })).items.length > 0;
  });
  if (hasHistory) return;
  // One cloud fails and recovers, another one stays down: two failed checks in a row count as an outage.
  for (const failing of [[], ['bad', 'verlag'], ['bad', 'verlag'], ['verlag']]) {
    for (const { folder } of clouds) systems.breakCloud(folder, failing.includes(folder));
    await performJob(runtime, checkAllInstances, { tenantId });
  }
}
