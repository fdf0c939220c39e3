import { expect, it } from 'vitest';
import { openSlots, openSlotsByKey } from './slots.ts';

const inSlotOf = (slots: number, queueLimit: number) =>
  openSlots({ slots, queueLimit, refusal: () => new Error('too many') });

it('runs so many at a time, in order of arrival, and refuses whoever comes beyond the queue', async () => {
  const inSlot = inSlotOf(2, 3);
  const begun: number[] = [];
  const gates = Array.from({ length: 7 }, () => Promise.withResolvers<number>());
  const work = gates.map(({ promise }, n) =>
    inSlot(() => {
      begun.push(n);
      return promise;
    }),
  );
  await expect(work[5]).rejects.toThrow('too many');
  await expect(work[6]).rejects.toThrow('too many');
  expect(begun).toEqual([0, 1]);
  gates[1]?.resolve(1);
  await work[1];
  gates[0]?.resolve(0);
  await work[0];
  await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
  for (const [n, gate] of gates.entries()) gate.resolve(n);
  expect(await Promise.all(work.slice(0, 5))).toEqual([0, 1, 2, 3, 4]);
  expect(await inSlot(async () => 'free again')).toBe('free again');
});

it('goes on after work that fails', async () => {
  const inSlot = inSlotOf(1, 1);
  const outcomes = await Promise.allSettled([
    inSlot(() => Promise.reject(new Error('no'))),
    inSlot(async () => 'next'),
  ]);
  expect(outcomes).toMatchObject([{ reason: { message: 'no' } }, { value: 'next' }]);
});

it('keeps those of one key apart from those of another', async () => {
  const inSlotOf = openSlotsByKey({ slots: 1, queueLimit: 1, refusal: () => new Error('too many') });
  const gate = Promise.withResolvers<string>();
  const begun: string[] = [];
  const enter = (key: string, name: string) =>
    inSlotOf(key, () => {
      begun.push(name);
      return gate.promise;
    });
  const all = [enter('a', 'first of a'), enter('a', 'second of a'), enter('b', 'first of b')];
  await expect(enter('a', 'third of a')).rejects.toThrow('too many');
  expect(begun).toEqual(['first of a', 'first of b']);
  gate.resolve('done');
  expect(await Promise.all(all)).toEqual(['done', 'done', 'done']);
  expect(begun).toEqual(['first of a', 'first of b', 'second of a']);
});
