import type { FailureClass } from '../failure-class.ts';
import { asHeadline, sentences } from '../sentences.ts';
import type { Evaluation, Finding } from './findings.ts';
import { plural } from './findings.ts';
import {
  isWorse,
  type NotExamined,
  type ServerState,
  type ServerStatus,
  type StateChange,
  type StatusFact,
  type StatusRule,
  worstOf,
} from './servers.ts';

/** A rule as stored between runs. */
export interface StoredRule extends StatusRule {
  /** A state that does not count yet, and how many polls in a row have found it. */
  pending?: { state: ServerState; seen: number };
}

/** The status of a server as stored in its row. */
export interface StoredStatus {
  state: ServerState;
  failure: FailureClass | null;
  message: string | null;
  checkedAt: Date | null;
  lastOkAt: Date | null;
  headline: string;
  facts: StatusFact[];
  rules: StoredRule[];
  notExamined: NotExamined;
  changes: StateChange[];
  /** Runs in a row that did not reach the server. */
  missed: number;
}

export const neverChecked: StoredStatus = {
  state: 'unknown',
  failure: null,
  message: 'It has not been checked yet.',
  checkedAt: null,
  lastOkAt: null,
  headline: 'Not checked yet',
  facts: [],
  rules: [],
  notExamined: { count: 0, items: [] },
  changes: [],
  missed: 0,
};

const maxChanges = 20;
const maxRules = 200;
const maxNamed = 50;

/** The status after a poll that reached the server. */
export function afterPoll(before: StoredStatus, poll: Evaluation, at: Date): StoredStatus {
  const all = applyFindings(before.rules, poll.findings, at);
  const rules = all.slice(0, maxRules);
  const failure = poll.failure;
  const state = failure ? 'unknown' : worstOf(all.map((rule) => rule.state));
  const worst = all.filter((rule) => rule.state === state && state !== 'ok');
  const message =
    failure?.message ??
    (worst.length === 0
      ? null
      : sentences(
          worst.map(({ text }) => text),
          3,
        )
          .slice(0, 1_000)
          .toWellFormed());
  const [first] = worst;
  const others = worst.length > 1 ? ` (and ${plural(worst.length - 1, 'other')})` : '';
  return withChange(before, at, {
    state,
    failure: failure?.class ?? null,
    message,
    checkedAt: at,
    lastOkAt: failure ? before.lastOkAt : at,
    headline: failure ? failure.message : first ? `${asHeadline(first.text)}${others}` : poll.summary,
    facts: failure ? before.facts : poll.facts.map((fact) => ({ ...fact, readAt: at.toISOString() })),
    rules: failure ? before.rules : rules,
    notExamined: { count: poll.notExamined.length, items: poll.notExamined.slice(0, maxNamed) },
    missed: 0,
  });
}

/** The status after a run that did not reach the server. The last facts and rules stay, with their times. */
export function afterMiss(
  before: StoredStatus,
  { failure, message }: { failure: FailureClass; message: string },
  at: Date,
): StoredStatus {
  const missed = before.missed + 1;
  return withChange(before, at, {
    ...before,
    state: missed >= 2 ? 'critical' : 'unknown',
    failure,
    message,
    checkedAt: at,
    headline: asHeadline(message),
    missed,
  });
}

function withChange(before: StoredStatus, at: Date, after: Omit<StoredStatus, 'changes'>): StoredStatus {
  const isFirst = before.checkedAt === null;
  const isSame = before.state === after.state;
  const change = { at: at.toISOString(), from: before.state, to: after.state, text: after.message ?? 'All is well.' };
  return { ...after, changes: isFirst || isSame ? before.changes : [change, ...before.changes].slice(0, maxChanges) };
}

const usuallyNeeded: Record<ServerState, number> = { ok: 1, unknown: 1, warning: 2, critical: 1 };

/** The rules after these findings: worst first, and within a state those about to count first. Rules without a finding end. */
export function applyFindings(before: readonly StoredRule[], findings: readonly Finding[], at: Date): StoredRule[] {
  const known = new Map(before.map((rule) => [rule.key, rule]));
  const rules = findings.map((finding) => applyFinding(known.get(finding.key), finding, at));
  return rules.toSorted((a, b) => {
    if (a.state !== b.state) return isWorse(a.state, b.state) ? -1 : 1;
    // Only the first 200 rules are stored. A pending rule that was dropped would never count.
    return Number(b.pending !== undefined) - Number(a.pending !== undefined);
  });
}

function applyFinding(before: StoredRule | undefined, finding: Finding, at: Date): StoredRule {
  const { key, state: found, value = null, text, needed = usuallyNeeded[found], meanwhile = 'ok' } = finding;
  const shown = before?.state ?? 'ok';
  const seen = before?.pending?.state === found ? before.pending.seen + 1 : 1;
  // An improvement counts at once.
  const counts = seen >= needed || (before !== undefined && !isWorse(found, shown));
  const state = counts ? found : isWorse(shown, meanwhile) && shown !== 'unknown' ? shown : meanwhile;
  return {
    key,
    state,
    value,
    since: before?.state === state ? before.since : at.toISOString(),
    text: counts ? text : sentences([text, `It counts once ${needed} checks in a row find it.`]),
    ...(!counts && { pending: { state: found, seen } }),
  };
}

/** A status becomes stale after three intervals, plus two minutes for a worker to restart. */
const staleAfterMs = (intervalMin: number): number => (3 * intervalMin + 2) * 60_000;

type Verdict = Pick<ServerStatus, 'state' | 'failure' | 'message' | 'checkedAt' | 'lastOkAt' | 'headline'>;

/** The state to show now. A stale status is shown as unknown. */
export function shownVerdict(
  { state, failure, message, checkedAt, lastOkAt, headline }: Verdict,
  {
    isActive,
    intervalMin,
    restsUntil = null,
    now,
  }: { isActive: boolean; intervalMin: number; restsUntil?: Date | null; now: Date },
): Verdict {
  const plain = { state, failure, message, checkedAt, lastOkAt, headline };
  if (!isActive) {
    const off = 'It is switched off and not checked.';
    return { ...plain, state: 'unknown', failure: null, message: off, headline: 'Switched off' };
  }
  // While the server rests, its message says why.
  if (restsUntil !== null && now < restsUntil) return plain;
  if (checkedAt === null || now.getTime() - checkedAt.getTime() <= staleAfterMs(intervalMin)) return plain;
  const stale = `It has not been checked since ${checkedAt.toISOString()}.`;
  return { ...plain, state: 'unknown', message: stale, headline: asHeadline(stale) };
}

/** Hides the states that do not count yet. */
export const shownRules = (rules: readonly StoredRule[]): StatusRule[] =>
  rules.map((rule) => (rule.pending ? withoutPending(rule) : rule));

const withoutPending = ({ key, state, value, since, text }: StoredRule): StatusRule => ({
  key,
  state,
  value,
  since,
  text,
});
