import { readFileSync } from 'node:fs';

/** Seconds of processor time a process has used so far; only on Linux. */
export function cpuSecOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
