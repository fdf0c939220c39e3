import { readFileSync } from 'node:fs';

/** Text that names a living process beyond the reuse of its number; null when there is no such process. */
export function processIdentity(pid: number): string | null {
  if (process.platform === 'linux') {
    try {
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      // After the name, which may hold anything, field 3 is the state and field 22 the start time in ticks since boot
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

/** Whether the process a text of `processIdentity` was made for still lives. */
export function isSameProcess(identity: string): boolean {
  const pid = Number.parseInt(identity, 10);
  return pid > 0 && processIdentity(pid) === identity;
}
