import { Status, type StatusKind } from '../../ui/status.tsx';
import css from './status.module.css';
import { countStates } from './worst-first.ts';

interface Props<State extends string> {
  states: readonly State[];
  /** From the worst to the best. */
  order: readonly State[];
  kinds: Record<State, StatusKind>;
  words: Record<State, (count: number) => string>;
}

/** How many are in each state. One entry speaks for itself. */
export function StateCounts<State extends string>({ states, order, kinds, words }: Props<State>) {
  if (states.length < 2) return null;
  return (
    <p class={css.counts}>
      {countStates(states, order).map(({ state, count }) => (
        <Status key={state} kind={kinds[state]}>
          {words[state](count)}
        </Status>
      ))}
    </p>
  );
}
