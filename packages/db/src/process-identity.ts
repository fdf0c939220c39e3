import { readFileSync } from 'node:fs';

/** Text that identifies a living process even if its id is reused later; null if there is no such process. */
export function processIdentity(pid: number): string | null {
  if (process.platform === 'linux') {
    try {
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      // The name may contain anything; after it, field 3 is the state and field 22 the start time in ticks since boot
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return fields[0] === 'Z' ? null : `${pid}.${fields[19]}.${boot}`;
    } catch {
      return null;
    }
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return null;
  }
  return `${pid}`;
}

/** Whether the process that `processIdentity` described is still alive. */
export function isSameProcess(identity: string): boolean {
  const pid = Number.parseInt(identity, 10);
  return pid > 0 && processIdentity(pid) === identity;
}
