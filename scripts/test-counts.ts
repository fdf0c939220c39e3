import type { TestModule } from 'vitest/node';

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Counts tests, and besides them everything that failed outside a test: a file, a hook of it, an unhandled error. */
export function countResults(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): Counts {
  const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
  for (const module of modules) {
    if (module.errors().length > 0) counts.failed++;
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed++;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      // Pending at the end: its process died under it, or the run was cancelled
      counts[state === 'pending' ? 'failed' : state]++;
    }
  }
  return counts;
}
