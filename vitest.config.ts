import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const needsDatabase = ['packages/{db,platform,testing,usecases}/**/*.test.ts', 'apps/**/*.test.ts'];

/** Files whose process trusts another authority, which has to be settled before the first connection. */
const trusting = {
  plain: ['packages/connectors/src/calendar/calendars.test.ts'],
  postgres: ['apps/api/src/calendar/*.test.ts'],
};

const plain = { include: ['packages/**/*.test.ts', 'scripts/**/*.test.ts'] };
const postgres = { include: needsDatabase, globalSetup: ['packages/testing/src/global-setup.ts'] };
const usual = ['**/node_modules/**'];

export default defineConfig({
  test: {
    // Argon2, process starts and mail deliveries take their time on a small machine with all cores busy
    testTimeout: 60_000,
    // What is waited for comes soon or never; a loaded machine may take its time
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    // Many tests wait for processes, mails and clocks: with as many files at once as there are cores, these are idle a third of the time.
    // The cap keeps the connections of all files below what the server takes
    maxWorkers: Math.min(availableParallelism() + 1, 8),
    // Files of one worker share what they import, which would else take a quarter of all processor time
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
    ],
  },
});
