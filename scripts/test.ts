// npm test: runs the tests (arguments go to vitest), names those that need a missing server, and ends with the counts.
// With --missing-packages it only prints the packages to install for the missing servers.
import { createVitest, parseCLI, type Vitest } from 'vitest/node';
import { serviceBinary, services } from '@portal/testing/services';
import { TestOrder } from './test-order.ts';
import { readResults, type Results } from './test-results.ts';

const missing = services.filter(({ binary }) => serviceBinary(binary) === null);
const mustHaveAll = process.env['CI'] === 'true';

const args = process.argv.slice(2);
if (args.includes('--missing-packages')) {
  console.log(missing.map(({ debianPackage }) => debianPackage).join(' '));
  process.exit();
}

let endAskedAt: number | null = null;
const results = await runTests(args);
for (const note of results.notes) console.log(note);
for (const { binary, debianPackage, skipped } of missing) {
  console.log(`${binary} is missing, so ${skipped} were skipped. Debian and Ubuntu: apt-get install ${debianPackage}`);
}
if (mustHaveAll) results.failed += missing.length;
const skipped = results.skipped > 0 ? `, ${results.skipped} skipped` : '';
console.log(`${results.passed} passed, ${results.failed} failed${skipped}`);
process.exit(endAskedAt !== null || results.failed > 0 || results.passed === 0 ? 1 : 0);

async function runTests(given: string[]): Promise<Results> {
  const { filter, options } = parseCLI(['vitest', 'run', ...given]);
  // vitest's own command line sets these before it starts
  process.env['NODE_ENV'] ??= 'test';
  process.env['VITEST'] = 'true';
  // Thousands of tests use real servers and killed processes. A test that fails by chance must not block a correct change: it gets a second
  // try, and the run names it at its end.
  const sequence = { sequencer: TestOrder };
  const vitest = await createVitest({ retry: mustHaveAll ? 1 : 0, sequence, ...options, watch: false });
  endOnSignal(vitest);
  try {
    await vitest.start(filter);
    return readResults(vitest.state.getTestModules(), vitest.state.getUnhandledErrors());
  } catch (error) {
    // vitest has already said so
    if (error instanceof Error && 'code' in error && error.code === 'VITEST_FILES_NOT_FOUND') {
      return { passed: 0, failed: 0, skipped: 0, notes: [] };
    }
    vitest.logger.printError(error);
    return { passed: 0, failed: 1, skipped: 0, notes: [] };
  } finally {
    await vitest.close();
  }
}

/** Ends the servers of the run on a signal; a second signal ends the run at once. */
function endOnSignal(vitest: Vitest): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // vite would exit at once and leave the database running
    process.removeAllListeners(signal);
    process.on(signal, () => {
      if (endAskedAt !== null) {
        // The terminal, npm and the bootstrap may each send one
        if (performance.now() - endAskedAt > 500) process.exit(1);
        return;
      }
      endAskedAt = performance.now();
      void vitest.cancelCurrentRun('keyboard-input');
      // Cancelling waits for the tests under way, which may take long
      setTimeout(() => void vitest.close().finally(() => process.exit(1)), 3_000).unref();
    });
  }
}
