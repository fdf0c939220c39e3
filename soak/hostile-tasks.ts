// 100 tasks that kill, hang or fill their process among 1,000 good ones: no good one is lost
import { mixInHostileTasks } from '@portal/testing/scenarios/hostile-tasks';

const { good, bad, violations } = await mixInHostileTasks({ count: 100 });
for (const violation of violations.slice(0, 50)) console.log(violation);
console.log(`${good} good tasks, ${bad} hostile ones, ${violations.length} violations`);
console.log(violations.length === 0 ? 'holds' : 'DOES NOT HOLD');
process.exitCode = violations.length === 0 ? 0 : 1;
