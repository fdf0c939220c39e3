import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const needsDatabase = ['packages/{db,platform,testing,usecases}/**/*.test.ts', 'apps/**/*.test.ts'];

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
    projects: [
      {
        extends: true,
        test: {
          name: 'plain',
          include: ['packages/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...needsDatabase],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: needsDatabase,
          globalSetup: ['packages/testing/src/global-setup.ts'],
        },
      },
    ],
  },
});
