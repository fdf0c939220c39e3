// Brings new keys in and takes the old ones away while people work: nobody is signed out before the end, every secret can be read
import { rotateKeysUnderLoad } from '@portal/testing/scenarios/rotate-keys';

const { met, violations } = await rotateKeysUnderLoad({ callers: 32, stepMs: 20_000 });
console.log(`answers by status ${JSON.stringify(met.statuses)}`);
for (const violation of violations) console.log(violation);
console.log(violations.length === 0 ? 'holds' : 'DOES NOT HOLD');
process.exitCode = violations.length === 0 ? 0 : 1;
