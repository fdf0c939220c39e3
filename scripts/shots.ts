// pnpm shots [WORD...] — takes pictures of every page of the demo tenant, in both themes and two widths, into .cache/shots.
//   WORD   takes only the pictures whose name contains one of them
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateDatabase } from '@portal/db/migrate';
import { TenderFilters } from '@portal/domain/tenders/filters';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime, type Runtime } from '@portal/platform/runtime';
import { builders } from '@portal/testing/make';
import { startProgram } from '@portal/testing/scenarios/worker-process';
import { startTestServer } from '@portal/testing/server';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import { makePassword } from '@portal/usecases/accounts/temporary-passwords';
import { listCloudInstances } from '@portal/usecases/cloud-status/instances';
import { listTabs } from '@portal/usecases/dashboards/tabs';
import { listInvoices } from '@portal/usecases/invoices/invoices';
import { listCustomModules } from '@portal/usecases/modules/custom-modules';
import { listServers } from '@portal/usecases/monitoring/servers';
import { seedFirstStart } from '@portal/usecases/tenants/seed-first-start';
import { listTenders } from '@portal/usecases/tenders/list-tenders';
import { launchBrowser, newProfile, type Theme } from '../apps/web/test/chromium.ts';
import { drawn } from '../apps/web/test/drawn.ts';
import { pageList } from '../apps/web/test/page-list.ts';
import { type Scene, scenes } from '../apps/web/test/scenes.ts';
import { accountOf, as } from './demo/act.ts';
import { fillDemo } from './demo/fill.ts';
import { startSystems } from './demo/systems.ts';
import { buildWebIfStale } from './web-build.ts';
import { usualBuild } from './web-sources.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, '.cache/shots');
const webDir = join(root, '.cache/web-dist');
const person = 'mara.muster';
// Not the ports of `pnpm demo serve`, which may run.
const firstPort = 18_500;
const themes: Theme[] = ['light', 'dark'];
const widths = [1440, 390];
const words = process.argv.slice(2);

const stops: (() => Promise<unknown>)[] = [];
const stopAll = async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stopAll().finally(() => process.exit(1)));
try {
  await buildWebIfStale({ ...usualBuild, outDir: webDir });
  const demo = await startDemo();
  const wanted = [...(await scenesOfPages(demo.pathOf)), ...scenes].filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  );
  await mkdir(folder, { recursive: true });
  const browser = await launchBrowser();
  stops.push(() => browser.close());
  for (const scene of wanted)
    for (const theme of themes)
      for (const width of widths) {
        const cookie = scene.isPublic ? null : scene.isOperators ? demo.operatorCookie : demo.cookie;
        const height = width < 500 ? 844 : 900;
        const profile = await newProfile(browser, demo.url, { language: 'de', theme, width, height }, cookie);
        try {
          const page = await profile.newPage();
          await page.goto(scene.path);
          await drawn(page);
          await scene.open?.(page, width);
          await page.screenshot({ path: join(folder, `${scene.name}-${theme}-${width}.png`), fullPage: !scene.open });
        } catch (error) {
          process.exitCode = 1;
          console.error(`${scene.name}, ${theme}, ${width}: ${error instanceof Error ? error.message : String(error)}`);
        } finally {
          await profile.close();
        }
      }
  console.log(`Pictures of ${wanted.length} pages and dialogs are in ${folder}.`);
} finally {
  await stopAll();
}

/** The pages of the list, each named by its address. */
async function scenesOfPages(pathOf: (pattern: string) => string): Promise<Scene[]> {
  return (await pageList()).map(({ path, who }) => ({
    name: path.slice(1).replaceAll(/[/:]+/g, '-'),
    path: pathOf(path),
    isPublic: who === 'public',
    isOperators: who === 'SUPER_ADMIN',
  }));
}

/** A new database with the demo tenant, its remote systems, and the API with the pages. */
async function startDemo() {
  const data = await mkdtemp(join(tmpdir(), 'portal-shots-'));
  stops.push(() => rm(data, { recursive: true, force: true }));
  const postgres = await startTestServer();
  stops.push(() => postgres.stop());
  await migrateDatabase(postgres.url);
  const systems = await startSystems(firstPort);
  stops.push(() => systems.stop());
  const env = {
    ...systems.env,
    DATABASE_URL: postgres.url,
    DATA_DIR: data,
    SESSION_SECRET: `shots:${Buffer.alloc(32, 7).toString('base64')}`,
    SECRETS_KEYS: `shots:${Buffer.alloc(32, 8).toString('base64')}`,
    LOG_LEVEL: 'error',
    WEB_DIR: webDir,
  };
  const config = readConfig(env);
  await seedFirstStart(config);
  const runtime = openRuntime(config, { process: 'script', log: openLog('error', 'script') });
  try {
    const { tenantId } = await fillDemo(runtime, systems, { password: makePassword(), isForced: true });
    const account = await accountOf(runtime, tenantId, person);
    const api = startProgram('apps/api/src/main.ts', { ...env, PORT: '0' });
    stops.push(async () => {
      api.child.kill('SIGTERM');
      await api.ended;
    });
    const [{ url }] = (await Promise.race([once(api.child, 'message'), api.unexpectedEnd])) as [{ url: string }];
    const operator = await builders(runtime.database).user({
      tenantId,
      role: 'SUPER_ADMIN',
      displayName: 'Olga Betrieb',
    });
    return {
      url,
      cookie: await cookieOf(runtime, account),
      operatorCookie: await cookieOf(runtime, operator),
      pathOf: await samplePaths(runtime, account),
    };
  } finally {
    await runtime.close();
  }
}

type Account = Awaited<ReturnType<typeof accountOf>>;
type SignedIn = Pick<Account, 'id' | 'tenantId'> & { sessionVersion?: number | undefined };

async function cookieOf(runtime: Runtime, account: SignedIn): Promise<string> {
  const session = await builders(runtime.database).session(account);
  const token = sessionTokens(runtime).issue({
    sub: account.id,
    tid: account.tenantId,
    sid: session.id,
    ver: account.sessionVersion ?? 1,
  });
  return `portal_session=${token}`;
}

/** Fills in the parameters of a page's path. */
async function samplePaths(runtime: Runtime, account: Account): Promise<(pattern: string) => string> {
  const newestTender = {
    filters: TenderFilters.parse({}),
    window: {},
    triage: {},
    sort: 'published',
    limit: 1,
  } as const;
  const ids = await as(runtime, account, async (ctx) => ({
    '/app/tabs/:id': (await listTabs(ctx)).at(-1)?.id,
    '/app/modules/:id': (await listCustomModules(ctx))[0]?.id,
    '/app/virtualization/:id': (await listServers(ctx)).find(({ kind }) => kind === 'backup')?.id,
    '/app/cloud-status/:id': (await listCloudInstances(ctx))[0]?.id,
    '/app/tenders/:id': (await listTenders(ctx, newestTender)).items[0]?.id,
    // The one with the most to show: an XML with its PDF.
    '/app/invoices/:id': (await listInvoices(ctx, { limit: 50 })).items.find(({ files }) => files.length > 1)?.id,
    '/app/admin/users/:id': account.id,
  }));
  return (pattern) => {
    if (!pattern.includes(':')) return pattern;
    const id = ids[pattern as keyof typeof ids];
    if (id === undefined) throw new Error(`scripts/shots.ts does not know a path for ${pattern}`);
    return pattern.replace(':id', id);
  };
}
