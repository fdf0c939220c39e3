// Puts new keys in front and encrypts stored secrets anew while people work: nobody is signed out, nothing fails
import { rotateKeysUnderLoad } from '@portal/testing/scenarios/house';

const { met, violations } = await rotateKeysUnderLoad({ callers: 32 });
console.log(`answers by status ${JSON.stringify(met.statuses)}`);
for (const violation of violations) console.log(violation);
console.log(violations.length === 0 ? 'holds' : 'DOES NOT HOLD');
process.exitCode = violations.length === 0 ? 0 : 1;
