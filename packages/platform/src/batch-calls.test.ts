import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { batchCalls } from './batch-calls.ts';

/** Doubles numbers in batches and records them; -1 fails its batch. */
function doubling(options: Parameters<typeof batchCalls>[1] = {}) {
  const batches: number[][] = [];
  const double = batchCalls(async (numbers: number[]) => {
    batches.push(numbers);
    await turn();
    if (numbers.includes(-1)) throw new Error('no negative numbers');
    return numbers.map((number) => 2 * number);
  }, options);
  return { double, batches };
}

it('answers the first call at once, and gathers those that arrive meanwhile', async () => {
  const { double, batches } = doubling();
  expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6]);
  expect(batches).toEqual([[1], [2, 3]]);
});

it('fails a bad item alone', async () => {
  const { double, batches } = doubling();
  const calls = await Promise.allSettled([1, 2, -1, 3].map(double));
  expect(calls.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(batches).toEqual([[1], [2, -1, 3], [2], [-1], [3]]);
});

it('gathers for some time after a batch if asked to, but not for a full one', async () => {
  const { double, batches } = doubling({ maxItems: 2, everyMs: 300 });
  await double(1);
  const second = double(2);
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(batches).toEqual([[1]]);
  await Promise.all([second, double(3), double(4), double(5), double(6)]);
  expect(batches).toEqual([[1], [2, 3], [4, 5], [6]]);
});
