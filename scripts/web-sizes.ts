// pnpm web:sizes: builds the pages aside and prints what a browser loads for each. A size beyond its limit is a failure, and `pnpm check` runs this.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { explainFailure } from './explain-failure.ts';
import { budgetFaults, measure, sizeTable } from './web-budget.ts';
import { runVite } from './web-build.ts';
import { usualBuild } from './web-sources.ts';

const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), '.cache');
await mkdir(cache, { recursive: true });
const outDir = await mkdtemp(join(cache, 'web-sizes-'));
try {
  await runVite({ ...usualBuild, outDir });
  const measured = measure({ ...usualBuild, outDir });
  const faults = budgetFaults(measured);
  console.log(sizeTable(measured));
  for (const fault of faults) console.log(`\n${fault}`);
  if (faults.length > 0) process.exitCode = 1;
} catch (error) {
  console.error(explainFailure(error));
  process.exitCode = 1;
} finally {
  await rm(outDir, { recursive: true, force: true });
}
