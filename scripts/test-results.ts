import type { TestCase, TestModule } from 'vitest/node';

export interface Results {
  passed: number;
  failed: number;
  skipped: number;
  /** A line for each failure and for each test that passed on its second try, for the end of a long log. */
  notes: string[];
}

/** Counts tests, and as failures also errors outside a test: of a file, of its hooks, or unhandled ones. */
export function readResults(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): Results {
  const results: Results = { passed: 0, failed: 0, skipped: 0, notes: [] };
  const fail = (where: string, error: unknown) => {
    results.failed += 1;
    results.notes.push(`Failed: ${where}: ${firstLineOf(error)}`);
  };
  for (const error of unhandledErrors) fail('outside a test', error);
  for (const module of modules) {
    const { relativeModuleId: file } = module;
    for (const error of module.errors().slice(0, 1)) fail(file, error);
    for (const suite of module.children.allSuites()) {
      for (const error of suite.errors().slice(0, 1)) fail(`${file} > ${suite.fullName}`, error);
    }
    for (const test of module.children.allTests()) {
      const { state, errors } = test.result();
      // Pending at the end: its process died, or the run was cancelled
      if (state === 'failed' || state === 'pending')
        fail(nameOf(file, test), errors?.[0] ?? { message: 'did not end' });
      else results[state] += 1;
      if (test.diagnostic()?.flaky) {
        results.notes.push(`Passed at the second try: ${nameOf(file, test)}: ${firstLineOf(errors?.[0])}`);
      }
    }
  }
  return results;
}

const nameOf = (file: string, test: TestCase): string => `${file} > ${test.fullName}`;

function firstLineOf(error: unknown): string {
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  return String(message).split('\n', 1)[0]?.slice(0, 300) ?? '';
}
