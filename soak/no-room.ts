// Takes away room and rights for files and rows, again and again: what needs them is 503, all else works, and nothing is half-written
import { parseArgs } from 'node:util';
import { loseRoom } from '@portal/testing/scenarios/no-room';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } });
const { refused, violations } = await loseRoom({ rounds: Number(values.rounds) });
console.log(`${refused} requests were refused`);
for (const violation of violations) console.log(violation);
console.log(violations.length === 0 ? 'holds' : 'DOES NOT HOLD');
process.exitCode = violations.length === 0 ? 0 : 1;
