import type { GrantMatrix } from '@portal/client/interface';

export type Subject = GrantMatrix['subjects'][number];
export type MatrixModule = GrantMatrix['modules'][number];
/** Null is no access. */
export type Level = Subject['grants'][string] | null;

export interface GrantChange {
  subject: Pick<Subject, 'type' | 'id' | 'name'>;
  module: string;
  /** The level when the person began to change it. */
  from: Level;
  to: Level;
}

/** Changes that are not saved, by cell. */
export type GrantDraft = ReadonlyMap<string, GrantChange>;

export const cellKey = ({ type, id }: Pick<Subject, 'type' | 'id'>, module: string): string =>
  `${type} ${id} ${module}`;

export const levelOf = ({ grants }: Pick<Subject, 'grants'>, module: string): Level => grants[module] ?? null;

/** None, USE, MANAGE, and none again. Where MANAGE allows no more than USE, it is not offered. */
export function nextLevel(level: Level, hasManage: boolean): Level {
  if (level === null) return 'USE';
  return level === 'USE' && hasManage ? 'MANAGE' : null;
}

/** The draft with one more change. A cell that is back at its first level is no change. */
export function withChange(draft: GrantDraft, change: GrantChange): GrantDraft {
  const next = new Map(draft);
  const key = cellKey(change.subject, change.module);
  const known = draft.get(key);
  const from = known ? known.from : change.from;
  if (from === change.to) next.delete(key);
  else next.set(key, { ...change, from });
  return next;
}

export function withoutChange(draft: GrantDraft, { subject, module }: GrantChange): GrantDraft {
  const next = new Map(draft);
  next.delete(cellKey(subject, module));
  return next;
}

/** The changes of a draft, seen against the grants as they are now. */
interface Comparison {
  /** Nobody else touched these cells. */
  due: GrantChange[];
  /** Another administrator gave these cells another level meanwhile. */
  conflicts: (GrantChange & { theirs: Level })[];
  /** Their group was deleted, or the cell already has the level. */
  settled: GrantChange[];
}

export function compareDraft(changes: Iterable<GrantChange>, now: GrantMatrix): Comparison {
  const subjects = new Map(now.subjects.map((subject) => [cellKey(subject, ''), subject]));
  const comparison: Comparison = { due: [], conflicts: [], settled: [] };
  for (const change of changes) {
    const subject = subjects.get(cellKey(change.subject, ''));
    // An account without grants is not in the matrix; a group always is.
    const isGone = !subject && change.subject.type === 'group';
    const theirs = subject ? levelOf(subject, change.module) : null;
    if (isGone || theirs === change.to) comparison.settled.push(change);
    else if (theirs === change.from) comparison.due.push(change);
    else comparison.conflicts.push({ ...change, theirs });
  }
  return comparison;
}

/** The matrix after a change that was saved, until it is read again. */
export function withGrant(matrix: GrantMatrix, { subject, module, to }: GrantChange): GrantMatrix {
  const isSame = ({ type, id }: Subject) => type === subject.type && id === subject.id;
  const known = matrix.subjects.some(isSame);
  const subjects = known ? matrix.subjects : [...matrix.subjects, { ...subject, grants: {} }];
  return {
    ...matrix,
    subjects: subjects.map((one) => {
      if (!isSame(one)) return one;
      const { [module]: _before, ...others } = one.grants;
      return { ...one, grants: to === null ? others : { ...others, [module]: to } };
    }),
  };
}
