import { type Finding, unread } from './findings.ts';
import { numberOf, sortedBy, textOf } from './loose.ts';
import type { ListPart } from './parts.ts';

/** Disks as SMART sees them; what says nothing of its health is none of our business. */
export function diskFindings(key: string, of: string, part: ListPart): Finding[] {
  if ('failure' in part) return [unread(`${key}:disks`, `the disks of ${of}`, part)];
  return sortedBy(part.data, 'devpath').map((row): Finding => {
    const disk = textOf(row['devpath']) ?? textOf(row['name']) ?? '?';
    const health = (textOf(row['health']) ?? textOf(row['status']) ?? '').toUpperCase();
    // Life that is left, percent; `N/A` where a disk does not count it.
    const left = numberOf(row['wearout']);
    const one = { key: `${key}:disk:${disk}`, value: left };
    if (health.startsWith('FAILED'))
      return { ...one, state: 'critical', text: `Disk ${disk} of ${of} reports a failure.` };
    if (left !== null && left < 10)
      return { ...one, state: 'warning', text: `Disk ${disk} of ${of} has ${left} % of its life left.` };
    return { ...one, state: 'ok', text: `Disk ${disk} of ${of} reports no problems.` };
  });
}

export function poolFindings(key: string, of: string, part: ListPart): Finding[] {
  if ('failure' in part) return [unread(`${key}:pools`, `the ZFS pools of ${of}`, part)];
  return sortedBy(part.data, 'name').map((row): Finding => {
    const pool = textOf(row['name']) ?? '?';
    const health = textOf(row['health']) ?? '';
    return {
      key: `${key}:pool:${pool}`,
      state: health === 'ONLINE' ? 'ok' : health === 'DEGRADED' ? 'warning' : health === '' ? 'unknown' : 'critical',
      text: `ZFS pool ${pool} of ${of} is ${health || 'in a state it does not tell'}.`,
    };
  });
}
