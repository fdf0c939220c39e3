// Keeps files in OpenStack Swift: writes, reads, kills, copies, and outages of the store under load; no file is lost, changed or left over
import { parseArgs } from 'node:util';
import { copyThereAndBack } from '@portal/testing/scenarios/copy-there-and-back';
import { keepFiles } from '@portal/testing/scenarios/keep-files';
import { killStoringPrograms } from '@portal/testing/scenarios/kill-storing-programs';
import { runOnObjectStore } from '@portal/testing/scenarios/run-on-object-store';
import { missingSwiftPackages, startSwift } from '@portal/testing/servers/swift';
import { serviceBinary } from '@portal/testing/services';

const { values } = parseArgs({
  options: {
    /** Small files, to fill the pages of a list. */
    small: { type: 'string', default: '1050' },
    kills: { type: 'string', default: '10' },
    outages: { type: 'string', default: '2' },
    /** Of one outage: longer than a call tries, 15 s, so that calls are refused. */
    seconds: { type: 'string', default: '20' },
    /** Runs only this part: `contract`, `kills`, `copy` or `product`. */
    only: { type: 'string' },
  },
});
const missing = [...missingSwiftPackages(), ...(serviceBinary('dovecot') === null ? ['dovecot-imapd'] : [])];
if (missing.length > 0) {
  console.log(`This run needs the Debian packages ${missing.join(', ')}.`);
  process.exit(1);
}

const say = (line: string) => console.log(`  ${line}`);
const store = await startSwift();
const parts = {
  contract: () => keepFiles({ store, small: Number(values.small) }),
  kills: () => killStoringPrograms({ store, kills: Number(values.kills), say }),
  copy: () => copyThereAndBack({ store, small: 200 }),
  product: () =>
    runOnObjectStore({
      store,
      outages: Number(values.outages),
      awayMs: Number(values.seconds) * 1_000,
      calmMs: 5_000,
      say,
    }),
};
let holds = true;
try {
  for (const [name, run] of Object.entries(parts)) {
    if (values.only !== undefined && values.only !== name) continue;
    const startedAt = performance.now();
    console.log(name);
    const { counts, violations } = await run();
    for (const [what, count] of Object.entries(counts)) say(`${what.padEnd(36)} ${Math.round(count)}`);
    for (const violation of violations) say(violation);
    say(`${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
    holds &&= violations.length === 0;
  }
} finally {
  await store.stop();
}
console.log(holds ? 'holds' : 'DOES NOT HOLD');
process.exitCode = holds ? 0 : 1;
