import { readdirSync, readFileSync } from 'node:fs';

/** Process ids of the child processes of this process; only on Linux. */
export function childProcesses(): number[] {
  const lists = readdirSync('/proc/self/task').map((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8'),
  );
  return lists.join(' ').split(' ').filter(Boolean).map(Number);
}
