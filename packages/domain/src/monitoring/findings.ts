import type { FailureClass } from '../failure-class.ts';
import type { Figures } from './history.ts';
import { limits } from './limits.ts';
import { DAY_SEC, type Answer } from './poll-answers.ts';
import { numberOf, type Row, textOf } from './rows.ts';
import type { NotExamined, ServerKind, ServerState, StatusFact } from './servers.ts';

/** The result of one rule in one poll of a server. */
export interface Finding {
  key: string;
  state: ServerState;
  value?: number | null;
  text: string;
  /** Polls in a row that must find it before it counts. By default 2 for a warning, 1 for everything else. */
  needed?: number;
  /** The state it has until then; `ok` by default. */
  meanwhile?: ServerState;
}

export type Fact = Omit<StatusFact, 'readAt'>;

/** The results of all rules for one poll of a server. */
export interface Evaluation {
  findings: Finding[];
  facts: Fact[];
  /** What the history of the server keeps of this poll. */
  figures: Figures;
  /** The headline of a tile while everything is ok. */
  summary: string;
  /** Set if the answers show that the account lacks rights, so that the state of the server is unknown. */
  failure: { class: FailureClass; message: string } | null;
  notExamined: NotExamined['items'];
}

export const percentOf = (part: number | null, whole: number | null): number | null =>
  part === null || whole === null || whole <= 0 ? null : Math.round((part / whole) * 1_000) / 10;

/** How much of a resource of a host is in use, from a field such as `memory` with `used` and `total`. */
export function usagePercent(host: Row, field: string): number | null {
  const usage = (host[field] ?? {}) as Row;
  return percentOf(numberOf(usage['used']), numberOf(usage['total']));
}

export interface Limits {
  warning: number;
  critical?: number;
}

/** The state of a figure that should be low. */
export const stateAbove = (value: number, { warning, critical = Infinity }: Limits): ServerState =>
  value >= critical ? 'critical' : value >= warning ? 'warning' : 'ok';

/** The state of a figure that should be high. */
export const stateBelow = (value: number, { warning, critical }: Required<Limits>): ServerState =>
  value <= critical ? 'critical' : value <= warning ? 'warning' : 'ok';

/** How full something is; unknown if the server does not report it. */
export function fullness(key: string, what: string, percent: number | null, above: Limits): Finding {
  if (percent === null)
    return { key, state: 'unknown', value: null, text: `The server does not say how full ${what} is.` };
  return { key, state: stateAbove(percent, above), value: percent, text: `${capital(what)} is ${percent} % full.` };
}

/** A value that could not be read is unknown, so that a missing answer never counts as ok; the text says why. */
export const unread = (
  key: string,
  what: string,
  { failure, message }: Extract<Answer<unknown>, { message: string }>,
): Finding => ({
  key,
  state: 'unknown',
  value: null,
  text: `${capital(what)} could not be read${failure === null ? '' : ` (\`${failure}\`)`}: ${message}`,
});

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `a, b and 3 more`. */
export function named(names: readonly string[], limit = 5): string {
  const rest = names.length - limit;
  return rest > 0 ? `${names.slice(0, limit).join(', ')} and ${rest} more` : names.join(', ');
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

export const days = (seconds: number): number => Math.floor(seconds / DAY_SEC);
export const hours = (seconds: number): number => Math.floor(seconds / 3_600);

/** Warns 30 days before a certificate expires; critical from 7 days on. `suffix` names a node: ` of pve1`. */
export function certificateFinding(
  validTo: Date | null,
  now: number,
  { key = 'certificate', suffix = '' }: { key?: string; suffix?: string } = {},
): Finding[] {
  if (validTo === null || Number.isNaN(validTo.getTime())) return [];
  const left = days(validTo.getTime() / 1_000 - now);
  const state = stateBelow(left, limits.certificateDays);
  const text =
    validTo.getTime() / 1_000 < now
      ? `The certificate${suffix} has expired.`
      : `The certificate${suffix} is valid for another ${plural(left, 'day')}.`;
  return [{ key, state, value: left, text }];
}

/** When the vendor’s support for a major version ends. */
const supportEnds: Record<ServerKind, Record<number, string>> = {
  virtualization: { 6: '2022-09-30', 7: '2024-07-31', 8: '2026-08-31' },
  backup: { 1: '2022-07-31', 2: '2024-07-31', 3: '2026-08-31' },
  'mail-gateway': { 6: '2022-09-30', 7: '2024-07-31', 8: '2026-08-31' },
};

export function versionFinding(kind: ServerKind, version: string | null, now: number): Finding[] {
  const major = /^(\d{1,3})\b/.exec(version ?? '')?.[1];
  if (version === null || major === undefined)
    return [{ key: 'version', state: 'unknown', value: null, text: 'The server does not say which version it runs.' }];
  const ends = supportEnds[kind][Number(major)];
  const oldest = Math.min(...Object.keys(supportEnds[kind]).map(Number));
  const isOver = Number(major) < oldest || (ends !== undefined && Date.parse(ends) / 1_000 < now);
  return [
    {
      key: 'version',
      state: isOver ? 'warning' : 'ok',
      value: Number(major),
      text: isOver
        ? `Version ${version} ${ends === undefined ? 'is no longer supported' : `has not been supported since ${ends}`}.`
        : `Version ${version} is supported.`,
    },
  ];
}

/** The state of a subscription. Having none is `ok`. `suffix` names a node: ` of pve1`. */
export function subscriptionFinding(
  key: string,
  suffix: string,
  row: Readonly<Record<string, unknown>>,
  now: number,
): Finding {
  const status = (textOf(row['status']) ?? '').toLowerCase();
  const due = Date.parse(`${String(row['nextduedate'])}T00:00:00Z`) / 1_000;
  const left = Number.isFinite(due) ? days(due - now) : null;
  const finding = (state: ServerState, text: string): Finding => ({
    key,
    state,
    value: left,
    text: `The subscription${suffix} ${text}.`,
  });
  switch (status) {
    case 'active':
      return left !== null && left <= limits.subscriptionDays.warning
        ? finding('warning', `is due in ${plural(Math.max(left, 0), 'day')}`)
        : finding('ok', 'is active');
    case 'notfound':
      return { key, state: 'ok', value: null, text: `There is no subscription${suffix}.` };
    case 'new':
      return finding('warning', 'has not been checked yet');
    case 'suspended':
      return finding('warning', 'is suspended');
    case 'expired':
    case 'invalid':
      return finding('critical', `is ${status}`);
    default:
      return finding('unknown', 'is in an unknown state');
  }
}
