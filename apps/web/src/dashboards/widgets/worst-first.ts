import { compareText } from '../../language.ts';

/** The entries by urgency, then by name. `order` lists the states from the worst to the best. */
export function worstFirst<Row, State extends string>(
  rows: readonly Row[],
  order: readonly State[],
  { state, name }: { state: (row: Row) => State; name: (row: Row) => string },
): Row[] {
  return rows.toSorted((a, b) => order.indexOf(state(a)) - order.indexOf(state(b)) || compareText(name(a), name(b)));
}

export interface StateCount<State extends string> {
  state: State;
  count: number;
}

/** How many entries are in each state that occurs, the worst first. */
export function countStates<State extends string>(
  states: readonly State[],
  order: readonly State[],
): StateCount<State>[] {
  return order
    .map((state) => ({ state, count: states.filter((one) => one === state).length }))
    .filter(({ count }) => count > 0);
}

/** The entries that a widget shows: the chosen ones, or all if none is chosen. */
export const chosen = <Row extends { id: string }>(rows: readonly Row[], ids: readonly string[]): readonly Row[] =>
  ids.length === 0 ? rows : rows.filter(({ id }) => ids.includes(id));
