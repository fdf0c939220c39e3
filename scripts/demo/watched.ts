import { NewCloudInstance } from '@portal/domain/cloud-status/instances';
import { DAY, HOUR } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { svgIcon } from '@portal/testing/icons';
import { serverForm } from '@portal/testing/monitoring';
import { createCloudInstance, listCloudInstances, updateCloudInstance } from '@portal/usecases/cloud-status/instances';
import { checkAllInstances } from '@portal/usecases/cloud-status/jobs';
import { uploadLogo } from '@portal/usecases/cloud-status/logo';
import { subscribe } from '@portal/usecases/cloud-status/subscriptions';
import { listTransitions } from '@portal/usecases/cloud-status/transitions';
import { addToHistory, readServerHistory } from '@portal/usecases/monitoring/history';
import { pollServers } from '@portal/usecases/monitoring/jobs';
import { createServer, listServers, putServer } from '@portal/usecases/monitoring/servers';
import { performJob } from './act.ts';
import type { Demo } from './fill.ts';
import { clouds, serverPasts } from './made-up.ts';
import { pastChecks } from './past.ts';

/** Healthy and failing servers and clouds, with their history. */
export async function fillWatched(demo: Demo): Promise<void> {
  await fillServers(demo);
  await fillClouds(demo);
}

async function fillServers({ runtime, systems, tenantId, as }: Demo): Promise<void> {
  const wasPolled = await as('jonas.beispiel', async (ctx) => {
    const known = await listServers(ctx);
    const forms = systems.watched.map(({ name, server }) => serverForm(server, { name }));
    const [first] = systems.watched;
    if (first) forms.push(serverForm(first.server, { name: 'Testserver Werkstatt', address: systems.deadAddress }));
    for (const form of forms) {
      const before = known.find(({ name }) => name === form.name);
      if (before === undefined) await createServer(ctx, form);
      else if (before.address !== form.address) await putServer(ctx, before.id, form);
    }
    return known.some(({ status }) => status.checkedAt !== null);
  });
  // The second poll confirms warnings, and that a server cannot be reached.
  if (!wasPolled) for (const _ of [1, 2]) await performJob(runtime, pollServers, { tenantId });
  await as('jonas.beispiel', fillHistory);
}

/** The 30 days before the demo, for servers that have no history so far. */
async function fillHistory(ctx: UserContext): Promise<void> {
  const now = Date.now();
  for (const { id, name } of await listServers(ctx)) {
    const past = serverPasts[name];
    const before = { from: new Date(now - 30 * DAY), to: new Date(now - HOUR) };
    if (past === undefined || (await readServerHistory(ctx, id, before)).points.length > 0) continue;
    await ctx.tx((tx) => addToHistory(tx, pastChecks(id, past, now)));
  }
}

async function fillClouds({ runtime, systems, tenantId, as }: Demo): Promise<void> {
  const hasHistory = await as('jonas.beispiel', async (ctx) => {
    const known = await listCloudInstances(ctx);
    for (const { folder, customerName, logo } of clouds) {
      const statusUrl = `${systems.clouds.origin}/${folder}`;
      const before = known.find((one) => one.customerName === customerName);
      if (before === undefined) {
        const { id } = await createCloudInstance(ctx, NewCloudInstance.parse({ customerName, statusUrl }));
        await subscribe(ctx, id);
        if (logo !== undefined) await uploadLogo(ctx, id, async () => svgIcon(logo));
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
