import { Status, type StatusKind } from '../../ui/status.tsx';
import css from './status.module.css';
import type { StateCount } from './worst-first.ts';

interface Props<State extends string> {
  /** From the worst to the best. */
  counts: readonly StateCount<State>[];
  kinds: Record<State, StatusKind>;
  words: Record<State, (count: number) => string>;
}

/** How many are in each state. One entry speaks for itself. */
export function StateCounts<State extends string>({ counts, kinds, words }: Props<State>) {
  if (counts.reduce((sum, { count }) => sum + count, 0) < 2) return null;
  return (
    <p class={css.counts}>
      {counts.map(({ state, count }) => (
        <Status key={state} kind={kinds[state]}>
          {words[state](count)}
        </Status>
      ))}
    </p>
  );
}
