import { useState } from 'preact/hooks';
import { me } from '../session.ts';

type Assignments = Readonly<Record<string, string>>;

/** What each account typed and has not exported yet. It outlives the page, so that a look at another one costs nothing. */
const kept = new Map<string, Assignments>();

/** The numbers for names without an account: key of the name → number. */
export function useKeptAssignments(): [Assignments, (change: Assignments) => void] {
  const owner = me.value?.id ?? '';
  const [numbers, setNumbers] = useState<Assignments>(() => kept.get(owner) ?? {});
  return [
    numbers,
    (next) => {
      kept.set(owner, next);
      setNumbers(next);
    },
  ];
}
