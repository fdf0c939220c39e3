import type { ServerHistory } from '@portal/client/interface';
import type { Failure, ServerState } from './servers.ts';

/** A stretch of time in one state; null while the server was not checked. */
export interface Section {
  fromMs: number;
  toMs: number;
  state: ServerState | null;
  failure: Failure | null;
}

const minuteMs = 60_000;

/**
 * How long a check tells of a server: until the next one, but not for longer than the service itself trusts a status. That is three
 * intervals and two minutes; see `staleAfterMs` of packages/domain/src/monitoring/settle.ts.
 */
export const holdsMs = (stepSec: number, intervalMin: number): number =>
  Math.max(stepSec * 1_000, (3 * intervalMin + 2) * minuteMs);

/** The states of a history one after the other, without a gap: what follows in the same state is one section. */
export function sectionsOf({ from, to, stepSec, points }: ServerHistory, intervalMin: number): Section[] {
  const [startMs, endMs] = [Date.parse(from), Date.parse(to)];
  const heldMs = holdsMs(stepSec, intervalMin);
  const sections: Section[] = [];
  const add = (section: Section) => {
    if (section.toMs <= section.fromMs) return;
    const last = sections.at(-1);
    if (last && last.state === section.state && last.failure === section.failure) last.toMs = section.toMs;
    else sections.push(section);
  };
  let untilMs = startMs;
  for (const [index, { at, state, failure }] of points.entries()) {
    const atMs = Math.max(Date.parse(at), startMs);
    add({ fromMs: untilMs, toMs: atMs, state: null, failure: null });
    const next = points[index + 1];
    const nextMs = next ? Date.parse(next.at) : endMs;
    untilMs = Math.min(nextMs, atMs + heldMs, endMs);
    add({ fromMs: atMs, toMs: untilMs, state, failure });
  }
  add({ fromMs: untilMs, toMs: endMs, state: null, failure: null });
  return sections;
}

/** The part of the time in each state, in percent; not checked is null. */
export function sharesOf(sections: readonly Section[]): Map<ServerState | null, number> {
  const all = sections.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  const shares = new Map<ServerState | null, number>();
  for (const { fromMs, toMs, state } of sections)
    shares.set(state, (shares.get(state) ?? 0) + (100 * (toMs - fromMs)) / all);
  return shares;
}

/** The points of a line, which breaks where the server was not checked. */
export function lineOf(
  { points, stepSec }: ServerHistory,
  values: readonly (number | null)[],
  intervalMin: number,
): [atMs: number, value: number | null][] {
  const heldMs = holdsMs(stepSec, intervalMin);
  return points.flatMap(({ at }, index): [number, number | null][] => {
    const atMs = Date.parse(at);
    const next = points[index + 1];
    const point: [number, number | null] = [atMs, values[index] ?? null];
    return next && Date.parse(next.at) - atMs > heldMs ? [point, [atMs + heldMs, null]] : [point];
  });
}
