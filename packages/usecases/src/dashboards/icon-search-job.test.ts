import { eq, sql } from 'drizzle-orm';
import { afterAll, expect, it } from 'vitest';
import { runs } from '@portal/db/schema/platform/operations';
import { handle } from '@portal/platform/jobs/handler';
import { addRun } from '@portal/platform/runs/start';
import { handOverIdleRuns } from '@portal/platform/runs/sweep';
import { pngIcon } from '@portal/testing/icons';
import { testRuntime } from '@portal/testing/runtime';
import { startHttpServer } from '@portal/testing/servers/http-server';
import { startTestWorker } from '@portal/testing/worker';
import { getRun } from '../operations/get-run.ts';
import { discoverFavoriteIcon } from './discover-icon.ts';
import { startIconDiscovery } from './favorite-icon.ts';
import { addFavorite, listFavorites } from './favorites.ts';
import { discoverIcon } from './jobs.ts';
import { createTab } from './tabs.ts';
import { addWidget } from './widgets.ts';

const site = await startHttpServer((_request, response) => response.end(pngIcon()));
const { url, config, make, signedIn, system } = await testRuntime();
const settings = { DATA_DIR: config.dataDir, OUTBOUND_ALLOW_HOSTS: `127.0.0.1:${site.port}` };
const search = handle(discoverIcon, (tenant, { favoriteId }, { signal }) =>
  discoverFavoriteIcon(tenant, favoriteId, signal),
);
const { worker, runtime } = startTestWorker(url, { handlers: [search] }, { env: settings });
afterAll(async () => {
  await worker.stop();
  await runtime.close();
  await site.close();
});

const soon = { timeout: 20_000 };
const ctx = await signedIn(await make.user());
const { id: tabId } = await createTab(ctx);
/** A favorite whose icon was found after it was added. */
async function added() {
  const { id: widgetId } = await addWidget(ctx, { tabId, type: 'favorites', config: {} });
  const { id } = await addFavorite(ctx, { widgetId, title: 'Page', url: `${site.origin}/page` });
  const version = async () => (await listFavorites(ctx, widgetId))[0]?.iconVersion;
  await expect.poll(version, soon).toBe(1);
  return { id, version };
}

it('finds the icon of an added favorite, and searches again on request', async () => {
  const { id, version } = await added();
  const { runId } = await startIconDiscovery(ctx, id);
  await expect.poll(() => getRun(ctx, runId), soon).toMatchObject({ state: 'succeeded', error: null });
  expect(await version()).toBe(2);
});

it('also does so if the queue has lost the job', async () => {
  const { id, version } = await added();
  const payload = { tenantId: ctx.tenantId, favoriteId: id };
  const runId = await ctx.tx((tx) => addRun(tx, discoverIcon, payload, { startedBy: ctx.actor.id }));
  await ctx.tx((tx) =>
    tx
      .update(runs)
      .set({ dueAt: sql`now() - interval '1 second'` })
      .where(eq(runs.id, runId)),
  );
  await handOverIdleRuns(system(), [discoverIcon]);
  await expect.poll(() => getRun(ctx, runId), soon).toMatchObject({ state: 'succeeded' });
  expect(await version()).toBe(2);
});
