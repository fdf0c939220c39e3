import { subjectOf } from '../dashboards/widgets/rule-subjects.ts';
import type { Rule, ServerKind } from './servers.ts';

export const areas = ['nodes', 'guests', 'stores', 'backups', 'mail', 'general'] as const;
/** A part of a server that its findings are about. */
export type Area = (typeof areas)[number];

type Subject = ReturnType<typeof subjectOf>['subject'];

const areaOf: Partial<Record<Subject, Area>> = {
  quorum: 'nodes',
  node: 'nodes',
  memory: 'nodes',
  root: 'nodes',
  swap: 'nodes',
  disk: 'nodes',
  pool: 'nodes',
  replication: 'nodes',
  availability: 'nodes',
  guest: 'guests',
  storage: 'stores',
  fullIn: 'stores',
  maintenance: 'stores',
  collection: 'stores',
  unbacked: 'backups',
  backup: 'backups',
  backupAge: 'backups',
  verification: 'backups',
  synchronization: 'backups',
  prune: 'backups',
  queue: 'mail',
  service: 'mail',
  signatures: 'mail',
  mail: 'mail',
  quarantine: 'mail',
};

/** The findings of each part that has any, as they stand: the worst first. */
export function rulesByArea(rules: readonly Rule[]): { area: Area; rules: Rule[] }[] {
  const of = ({ key }: Rule): Area =>
    key.startsWith('backup-tasks') ? 'backups' : (areaOf[subjectOf(key).subject] ?? 'general');
  return areas
    .map((area) => ({ area, rules: rules.filter((rule) => of(rule) === area) }))
    .filter(({ rules }) => rules.length > 0);
}

/** How full something is. */
export interface Usage {
  rule: Rule;
  percent: number;
  subject: 'storage' | 'memory' | 'root' | 'swap';
  /** Days until it is full; null if the server cannot tell or it does not fill up. */
  fullInDays: number | null;
  /** Only backup servers tell. */
  hasForecast: boolean;
}

/** What can fill up, the fullest first. */
export function usagesOf(rules: readonly Rule[], kind: ServerKind): Usage[] {
  const named = rules.map((rule) => ({ rule, ...subjectOf(rule.key) }));
  const daysOf = (name: string): number | null =>
    named.find((one) => one.subject === 'fullIn' && one.name === name)?.rule.value ?? null;
  return named
    .flatMap(({ rule, subject, name }): Usage[] => {
      if (subject !== 'storage' && subject !== 'memory' && subject !== 'root' && subject !== 'swap') return [];
      if (rule.value === null) return [];
      const isStore = subject === 'storage' && kind === 'backup';
      return [{ rule, percent: rule.value, subject, fullInDays: isStore ? daysOf(name) : null, hasForecast: isStore }];
    })
    .toSorted((a, b) => b.percent - a.percent);
}

/** True if the account could not read something, which the service marks in its sentences. */
export const tellsOfRights = (sentence: string): boolean => sentence.includes('`rechte`');
