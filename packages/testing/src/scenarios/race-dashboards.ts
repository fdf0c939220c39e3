import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { maxImages, maxTabs } from '@portal/domain/dashboards/tabs';
import { PortalError } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { readConfig } from '@portal/platform/config';
import type { UserContext } from '@portal/platform/context';
import { openLog } from '@portal/platform/log';
import { openRuntime, type Runtime } from '@portal/platform/runtime';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import { addImage, deleteImage, listImages } from '@portal/usecases/dashboards/images';
import { getLayout } from '@portal/usecases/dashboards/layout';
import { saveLayout } from '@portal/usecases/dashboards/save-layout';
import { createTab, deleteTab, listTabs, orderTabs } from '@portal/usecases/dashboards/tabs';
import { addWidget } from '@portal/usecases/dashboards/widgets';
import { builders } from '../make.ts';
import { tinyGif } from '../pictures.ts';

/** Concurrent sessions of one account. */
type Callers = [UserContext, ...UserContext[]];

interface RaceSetup {
  /** Contexts of a new account, half of them in each of two runtimes, as in two API processes. */
  callers(): Promise<Callers>;
  /** Names of all stored files. */
  files(): Promise<string[]>;
}

const callersAtOnce = 6;

/** Each race prepares its data and returns a round, which throws on a wrong outcome. */
const races = {
  'first tab':
    async ({ callers }: RaceSetup) =>
    async () => {
      const lists = await Promise.all((await callers()).map((ctx) => listTabs(ctx)));
      const names = lists.map((tabs) => tabs.map(({ name }) => name));
      assert.deepEqual(
        names,
        lists.map(() => ['Dashboard 1']),
      );
      assert.equal(new Set(lists.map(([tab]) => tab?.id)).size, 1);
    },

  '21st tab': async ({ callers }: RaceSetup) => {
    const all = await callers();
    while ((await listTabs(all[0])).length < maxTabs - 1) await createTab(all[0]);
    return async () => {
      const tab = await onlyWinner(
        all.map((ctx) => createTab(ctx)),
        ['TAB_LIMIT'],
      );
      const tabs = await listTabs(all[0]);
      assertDense(tabs, maxTabs);
      assert.equal(new Set(tabs.map(({ name }) => name)).size, maxTabs);
      assert.equal(tabs.at(-1)?.id, tab.id);
      // Deletes another tab in each round, so that gaps occur at every position.
      await deleteTab(all[0], tabs[Math.floor(Math.random() * maxTabs)]?.id ?? '');
    };
  },

  'last tab': async ({ callers }: RaceSetup) => {
    const all = await callers();
    await listTabs(all[0]);
    return async () => {
      await createTab(all[0]);
      const tabs = await listTabs(all[0]);
      assert.equal(tabs.length, 2);
      await onlyWinner(
        all.map((ctx, n) => deleteTab(ctx, tabs[n % 2]?.id ?? '')),
        ['LAST_TAB', 'NOT_FOUND'],
      );
      assertDense(await listTabs(all[0]), 1);
    };
  },

  'order against delete': async ({ callers }: RaceSetup) => {
    const [deleter, ...orderers] = await callers();
    for (let n = 0; n < 4; n += 1) await createTab(deleter);
    return async () => {
      await createTab(deleter);
      const ids = (await listTabs(deleter)).map(({ id }) => id);
      const shuffled = () => ids.toSorted(() => Math.random() - 0.5);
      const [deleted, ...ordered] = await Promise.allSettled([
        deleteTab(deleter, ids[Math.floor(Math.random() * ids.length)] ?? ''),
        ...orderers.map((ctx) => orderTabs(ctx, shuffled())),
      ]);
      assert.equal(deleted.status, 'fulfilled');
      for (const result of ordered)
        if (result.status === 'rejected') assertRefusal(result.reason, ['VALIDATION_FAILED']);
      assertDense(await listTabs(deleter), 4);
    };
  },

  '31st image': async ({ callers, files }: RaceSetup) => {
    const all = await callers();
    const upload = (ctx: UserContext) => addImage(ctx, { name: 'fest.gif', bytes: tinyGif });
    for (let n = 1; n < maxImages; n += 1) await upload(all[0]);
    return async () => {
      const image = await onlyWinner(all.map(upload), ['IMAGE_LIMIT']);
      const images = await listImages(all[0]);
      assert.equal(images.length, maxImages);
      assert.deepEqual((await files()).toSorted(), images.map(({ id }) => `${id}.gif`).toSorted());
      await onlyWinner(
        all.map((ctx) => deleteImage(ctx, image.id)),
        ['NOT_FOUND'],
      );
      assert.equal((await files()).length, maxImages - 1);
    };
  },

  'two layouts on one revision': async ({ callers }: RaceSetup) => {
    const all = await callers();
    const { id: tabId } = await createTab(all[0]);
    const { id: i } = await addWidget(all[0], { tabId, type: 'clock', config: {} });
    return async () => {
      const before = await getLayout(all[0], tabId);
      const saved = await onlyWinner(
        all.map((ctx, x) =>
          saveLayout(ctx, tabId, {
            __gridVersion: 2,
            layouts: { lg: [{ i, x, y: 0, w: 1, h: 1 }] },
            revision: before.revision,
          }),
        ),
        ['LAYOUT_CHANGED'],
      );
      assert.equal(saved.revision, before.revision + 1);
      assert.deepEqual(await getLayout(all[0], tabId), saved);
    };
  },
} satisfies Record<string, (ground: RaceSetup) => Promise<() => Promise<void>>>;

export type Race = keyof typeof races;
export const raceNames = Object.keys(races) as Race[];

/** Runs `rounds` rounds of a race. Throws on the first wrong outcome. */
export async function raceDashboards(options: { databaseUrl: string; race: Race; rounds: number }): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'portal-races-'));
  const config = readConfig({
    DATABASE_URL: options.databaseUrl,
    DATABASE_POOL_MAX: '5',
    DATA_DIR: dataDir,
    SESSION_SECRET: `races:${Buffer.alloc(32).toString('base64')}`,
    SECRETS_KEYS: `races:${Buffer.alloc(32, 1).toString('base64')}`,
    LOG_LEVEL: 'silent',
  });
  const open = () => openRuntime(config, { process: 'api', log: openLog('silent', 'api') });
  const [one, other] = [open(), open()];
  try {
    const round = await races[options.race]({
      callers: () => callersOf(one, other),
      files: () => filesIn(join(dataDir, 'files')),
    });
    for (let number = 1; number <= options.rounds; number += 1) {
      await round().catch((cause: unknown) => {
        throw new Error(`The race "${options.race}" had a wrong outcome in round ${number}.`, { cause });
      });
    }
  } finally {
    await one.close();
    await other.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function callersOf(one: Runtime, other: Runtime): Promise<Callers> {
  const make = builders(one.database);
  const user = await make.user();
  const session = await make.session(user);
  const contextIn = (runtime: Runtime): Promise<UserContext> => {
    const system = runtime.system({ requestId: newId(), ip: null, userAgent: null });
    const claims = { sub: user.id, tid: user.tenantId, sid: session.id, ver: 1 };
    return authenticate(system, sessionTokens(system).issue(claims));
  };
  const others = Array.from({ length: callersAtOnce - 1 }, (_, n) => contextIn(n % 2 === 0 ? other : one));
  return [await contextIn(one), ...(await Promise.all(others))];
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** The result of the only attempt that succeeded. All others must fail with one of these codes. */
async function onlyWinner<T>(attempts: Promise<T>[], codes: string[]): Promise<T> {
  const results = await Promise.allSettled(attempts);
  const won = results.filter((result) => result.status === 'fulfilled');
  for (const result of results) if (result.status === 'rejected') assertRefusal(result.reason, codes);
  const [winner] = won;
  assert.equal(won.length, 1);
  assert(winner);
  return winner.value;
}

function assertRefusal(error: unknown, codes: string[]): void {
  if (!(error instanceof PortalError && codes.includes(error.code))) throw error;
}

/** Positions from 0 without a gap. */
function assertDense(tabs: { position: number }[], count: number): void {
  assert.deepEqual(
    tabs.map(({ position }) => position),
    Array.from({ length: count }, (_, position) => position),
  );
}
