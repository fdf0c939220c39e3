import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const cores = availableParallelism();

const needsDatabase = ['packages/{db,platform,testing,usecases}/**/*.test.ts', 'apps/{api,worker}/**/*.test.ts'];

/** Files whose process trusts another certificate authority, which must be set before the first connection. */
const trusting = {
  plain: ['packages/connectors/src/calendar/calendars.test.ts'],
  postgres: ['apps/api/src/calendar/*.test.ts', 'packages/platform/src/files/object-store-downloads.test.ts'],
};

const plain = { include: ['{packages,scripts,apps/web/src}/**/*.test.ts'] };
const database = 'packages/testing/src/global-setup.ts';
const postgres = { include: needsDatabase, globalSetup: [database] };
const usual = ['**/node_modules/**'];

export default defineConfig({
  test: {
    // Argon2, process starts and mail deliveries are slow on a small machine with all cores busy
    testTimeout: 60_000,
    // A polled result arrives soon or never, but a busy machine may take longer
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    // Many tests wait for processes, mails and clocks: with one file per core, the cores are idle a third of the time, with one file more a
    // tenth. With two files more, a process of low priority that reads a hostile upload missed its 20 s.
    // `scripts/test-order.ts` keeps those that wait longest apart. The cap keeps the connections of all files below the limit of the
    // server. A single core runs one file at a time: beside another file it would not keep the limits on time that some tests are about
    maxWorkers: cores === 1 ? 1 : Math.min(cores + 1, 8),
    // Files of one worker share their imports, which would otherwise take a quarter of all processor time: importing the API takes four
    // seconds. `pnpm soak repeats` runs the files in other orders, to find those that depend on the file before
    isolate: false,
    execArgv: ['--import', new URL('scripts/supervised-process.ts', import.meta.url).href],
    projects: [
      {
        extends: true,
        test: { name: 'plain', ...plain, exclude: [...usual, ...needsDatabase, ...trusting.plain] },
      },
      { extends: true, test: { name: 'postgres', ...postgres, exclude: [...usual, ...trusting.postgres] } },
      { extends: true, test: { name: 'plain, alone', isolate: true, include: trusting.plain } },
      {
        extends: true,
        test: { name: 'postgres, alone', isolate: true, ...postgres, include: trusting.postgres },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['apps/web/test/**/*.test.ts'],
          globalSetup: [database, 'apps/web/test/global-setup.ts'],
          // A browser uses more than one core by itself. After the other tests, so that its pages answer in time
          maxWorkers: Math.min(cores, 2),
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
