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

/** A rule as it is kept from one run to the next. */
export interface KeptRule extends StatusRule {
  /** What was found and does not count yet, and how often in a row. */
  pending?: { state: ServerState; seen: number };
}

/** The status of a server as its row has it. */
export interface KeptStatus {
  state: ServerState;
  failure: FailureClass | null;
  message: string | null;
  checkedAt: Date | null;
  lastOkAt: Date | null;
  headline: string;
  facts: StatusFact[];
  rules: KeptRule[];
  notExamined: NotExamined;
  changes: StateChange[];
  /** Runs in a row that did not reach it. */
  missed: number;
}

export const neverChecked: KeptStatus = {
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

/** The status after a look that reached the server. */
export function afterPoll(before: KeptStatus, poll: Evaluation, at: Date): KeptStatus {
  const all = settleRules(before.rules, poll.findings, at);
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

/** The status after a run that did not reach the server: facts and rules stay as they were last read, with their time. */
export function afterMiss(
  before: KeptStatus,
  { failure, message }: { failure: FailureClass; message: string },
  at: Date,
): KeptStatus {
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

function withChange(before: KeptStatus, at: Date, after: Omit<KeptStatus, 'changes'>): KeptStatus {
  const isFirst = before.checkedAt === null;
  const isSame = before.state === after.state;
  const change = { at: at.toISOString(), from: before.state, to: after.state, text: after.message ?? 'All is well.' };
  return { ...after, changes: isFirst || isSame ? before.changes : [change, ...before.changes].slice(0, maxChanges) };
}

const usuallyNeeded: Record<ServerState, number> = { ok: 1, unknown: 1, warning: 2, critical: 1 };

/** Rules as they stand after these findings, worst first, then those that are about to count. What is no longer found is gone. */
export function settleRules(before: readonly KeptRule[], findings: readonly Finding[], at: Date): KeptRule[] {
  const known = new Map(before.map((rule) => [rule.key, rule]));
  const settled = findings.map((finding) => settle(known.get(finding.key), finding, at));
  return settled.toSorted((a, b) => {
    if (a.state !== b.state) return isWorse(a.state, b.state) ? -1 : 1;
    // Where there are more than are kept, one that is dropped before it counts would never count.
    return Number(b.pending !== undefined) - Number(a.pending !== undefined);
  });
}

function settle(before: KeptRule | undefined, finding: Finding, at: Date): KeptRule {
  const { key, state: found, value = null, text, needed = usuallyNeeded[found], meanwhile = 'ok' } = finding;
  const shown = before?.state ?? 'ok';
  const seen = before?.pending?.state === found ? before.pending.seen + 1 : 1;
  // What gets better does so at once, and so does what has counted before.
  const counts = seen >= needed || (before !== undefined && !isWorse(found, shown));
  const state = counts ? found : isWorse(shown, meanwhile) && shown !== 'unknown' ? shown : meanwhile;
  return {
    key,
    state,
    value,
    since: before?.state === state ? before.since : at.toISOString(),
    text: counts ? text : sentences([text, `It counts once it is found ${needed} times in a row.`]),
    ...(!counts && { pending: { state: found, seen } }),
  };
}

/** How long a status may be believed without a newer one: three intervals, and some minutes for a worker that starts anew. */
const staleAfterMs = (intervalMin: number): number => (3 * intervalMin + 2) * 60_000;

type Verdict = Pick<ServerStatus, 'state' | 'failure' | 'message' | 'checkedAt' | 'lastOkAt' | 'headline'>;

/** How a server is, as it is shown now: what nobody keeps up to date is not known any more. */
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
  // Why it rests stays said for as long as it does.
  if (restsUntil !== null && now < restsUntil) return plain;
  if (checkedAt === null || now.getTime() - checkedAt.getTime() <= staleAfterMs(intervalMin)) return plain;
  const stale = `It has not been checked since ${checkedAt.toISOString()}.`;
  return { ...plain, state: 'unknown', message: stale, headline: asHeadline(stale) };
}

/** What does not count yet is nobody’s business. */
export const shownRules = (rules: readonly KeptRule[]): StatusRule[] =>
  rules.map((rule) => (rule.pending ? withoutPending(rule) : rule));

const withoutPending = ({ key, state, value, since, text }: KeptRule): StatusRule => ({
  key,
  state,
  value,
  since,
  text,
});
