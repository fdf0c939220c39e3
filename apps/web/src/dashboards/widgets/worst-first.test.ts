import { expect, it } from 'vitest';
import { chosen, countStates, worstFirst } from './worst-first.ts';

const order = ['critical', 'warning', 'unknown', 'ok'] as const;
const row = (name: string, state: (typeof order)[number]) => ({ id: name, name, state });
const rows = [row('pve10', 'ok'), row('b', 'unknown'), row('pve2', 'ok'), row('z', 'critical'), row('a', 'warning')];

it('lists the worst first and equals by name', () => {
  const sorted = worstFirst(rows, order, { state: ({ state }) => state, name: ({ name }) => name });
  expect(sorted.map(({ name }) => name)).toEqual(['z', 'a', 'b', 'pve2', 'pve10']);
});

it('counts the states that occur', () => {
  const states = rows.map(({ state }) => state).filter((state) => state !== 'warning');
  expect(countStates(states, order)).toEqual([
    { state: 'critical', count: 1 },
    { state: 'unknown', count: 1 },
    { state: 'ok', count: 2 },
  ]);
});

it('shows all if none is chosen', () => {
  expect(chosen(rows, [])).toBe(rows);
  expect(chosen(rows, ['z', 'gone']).map(({ id }) => id)).toEqual(['z']);
});
