import { type Finding, unread } from './findings.ts';
import { limits } from './limits.ts';
import type { ListAnswer } from './poll-answers.ts';
import { numberOf, sortedBy, textOf } from './rows.ts';

/** Disks as SMART sees them. A disk that does not report its health counts as `ok`. */
export function diskFindings(key: string, host: string, answer: ListAnswer): Finding[] {
  if ('failure' in answer) return [unread(`${key}:disks`, `the disks of ${host}`, answer)];
  return sortedBy(answer.data, 'devpath').map((row): Finding => {
    const disk = textOf(row['devpath']) ?? textOf(row['name']) ?? '?';
    const health = (textOf(row['health']) ?? textOf(row['status']) ?? '').toUpperCase();
    // Remaining life in percent; `N/A` if the disk does not report it.
    const left = numberOf(row['wearout']);
    const one = { key: `${key}:disk:${disk}`, value: left };
    if (health.startsWith('FAILED'))
      return { ...one, state: 'critical', text: `Disk ${disk} of ${host} reports a failure.` };
    if (left !== null && left < limits.diskLifePercent.warning)
      return { ...one, state: 'warning', text: `Disk ${disk} of ${host} has ${left} % of its life left.` };
    return { ...one, state: 'ok', text: `Disk ${disk} of ${host} reports no problems.` };
  });
}

export function poolFindings(key: string, host: string, answer: ListAnswer): Finding[] {
  if ('failure' in answer) return [unread(`${key}:pools`, `the ZFS pools of ${host}`, answer)];
  return sortedBy(answer.data, 'name').map((row): Finding => {
    const pool = textOf(row['name']) ?? '?';
    const health = textOf(row['health']) ?? '';
    return {
      key: `${key}:pool:${pool}`,
      state: health === 'ONLINE' ? 'ok' : health === 'DEGRADED' ? 'warning' : health === '' ? 'unknown' : 'critical',
      text: `ZFS pool ${pool} of ${host} is ${health || 'in an unknown state'}.`,
    };
  });
}
