import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openSemaphore } from './semaphore.ts';

const inSlotOf = (slots: number, queueLimit: number) =>
  openSemaphore({ slots, queueLimit, refusal: () => new Error('too many') });

it('runs a limited number at a time, in order of arrival, and refuses work beyond the queue', async () => {
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

it('refuses work that has waited too long, for its key’s slots or for all, and continues with the next', async () => {
  const inSlot = openSemaphore({ slots: 1, queueLimit: 5, refusal: () => new Error('too long') });
  const gate = Promise.withResolvers<string>();
  const begun: string[] = [];
  const enter = (key: string, name: string, waitMs?: number) =>
    inSlot(
      () => {
        begun.push(name);
        return gate.promise;
      },
      waitMs === undefined ? { key } : { key, until: performance.now() + waitMs },
    );
  const first = enter('a', 'first');
  const [ofOwn, ofAll, patient] = [enter('a', 'own', 100), enter('b', 'all', 100), enter('a', 'patient')];
  await expect(ofOwn).rejects.toThrow('too long');
  await expect(ofAll).rejects.toThrow('too long');
  gate.resolve('done');
  expect(await Promise.all([first, patient])).toEqual(['done', 'done']);
  expect(begun).toEqual(['first', 'patient']);
});

it('continues after work that fails', async () => {
  const inSlot = inSlotOf(1, 1);
  const outcomes = await Promise.allSettled([
    inSlot(() => Promise.reject(new Error('no'))),
    inSlot(async () => 'next'),
  ]);
  expect(outcomes).toMatchObject([{ reason: { message: 'no' } }, { value: 'next' }]);
});

it('limits each key separately', async () => {
  const inSlot = openSemaphore({ perKey: 1, queueLimitPerKey: 1, refusal: () => new Error('too many') });
  const gate = Promise.withResolvers<string>();
  const begun: string[] = [];
  const enter = (key: string, name: string) =>
    inSlot(
      () => {
        begun.push(name);
        return gate.promise;
      },
      { key },
    );
  const all = [enter('a', 'first of a'), enter('a', 'second of a'), enter('b', 'first of b')];
  await expect(enter('a', 'third of a')).rejects.toThrow('too many');
  expect(begun).toEqual(['first of a', 'first of b']);
  gate.resolve('done');
  expect(await Promise.all(all)).toEqual(['done', 'done', 'done']);
  expect(begun).toEqual(['first of a', 'first of b', 'second of a']);
});

it('gives each key at most its own share of the slots, and serves the next key before the first key’s second work', async () => {
  const inSlot = openSemaphore({
    slots: 2,
    perKey: 1,
    queueLimit: 2,
    queueLimitPerKey: 1,
    refusal: () => new Error('too many'),
  });
  const gates = new Map<string, PromiseWithResolvers<string>>();
  const begun: string[] = [];
  const enter = (key: string, name: string) =>
    inSlot(
      () => {
        begun.push(name);
        const gate = Promise.withResolvers<string>();
        gates.set(name, gate);
        return gate.promise;
      },
      { key },
    );
  const all = [enter('a', 'a1'), enter('a', 'a2'), enter('b', 'b1'), enter('c', 'c1')];
  await expect(enter('a', 'a3')).rejects.toThrow('too many');
  await expect(enter('d', 'd1')).rejects.toThrow('too many');
  expect(begun).toEqual(['a1', 'b1']);
  gates.get('a1')?.resolve('a1');
  await expect.poll(() => begun).toEqual(['a1', 'b1', 'c1']);
  gates.get('b1')?.resolve('b1');
  await expect.poll(() => begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  for (const [name, gate] of gates) gate.resolve(name);
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'b1', 'c1']);
});

describe('fair slots', () => {
  const { signal } = new AbortController();

  it('go to the most urgent work, then to the key with the fewest slots, and never all to the least urgent', async () => {
    const inSlot = openSemaphore({ slots: 4, leastUrgent: { urgency: 2, slots: 3 } });
    const order: string[] = [];
    const work = (key: string, urgency: number) =>
      inSlot(
        async () => {
          order.push(`${key}${urgency}`);
          await pause(20);
        },
        { key, urgency, signal },
      );
    const times = (count: number, key: string, urgency: number) =>
      Array.from({ length: count }, () => work(key, urgency));
    await Promise.all([...times(6, 'a', 2), ...times(6, 'a', 0), ...times(3, 'b', 0)]);
    expect(order.slice(0, 4)).toEqual(['a2', 'a2', 'a2', 'a0']);
    expect(order.slice(4, 8).filter((one) => one === 'b0').length).toBeGreaterThan(1);
    expect(order.slice(-3)).toEqual(['a2', 'a2', 'a2']);
  });

  it('are not all held by one key, nor is a key’s share by its least urgent work', async () => {
    const inSlot = openSemaphore({ slots: 6, perKey: 4, leastUrgent: { urgency: 2, slots: 5, perKey: 3 } });
    const order: string[] = [];
    const letGo = Promise.withResolvers<void>();
    const enter = (count: number, key: string, urgency: number) =>
      Array.from({ length: count }, () =>
        inSlot(
          () => {
            order.push(`${key}${urgency}`);
            return letGo.promise;
          },
          { key, urgency, signal },
        ),
      );
    const work = [...enter(5, 'a', 2), ...enter(2, 'a', 0), ...enter(5, 'b', 2), ...enter(1, 'c', 0)];
    await pause(1);
    expect(order).toEqual(['a2', 'a2', 'a2', 'a0', 'b2', 'b2']);
    letGo.resolve();
    await Promise.all(work);
    expect(order.slice(6, 8)).toEqual(['c0', 'a0']);
    expect(order).toHaveLength(13);
  });

  it('are waited for until the signal is aborted, and none is lost', async () => {
    const inSlot = openSemaphore({ slots: 1, leastUrgent: { urgency: 2, slots: 1 } });
    const letGo = Promise.withResolvers<void>();
    const first = inSlot(() => letGo.promise, { key: 'a', signal });
    const impatient = new AbortController();
    const second = inSlot(async () => 'never', { key: 'a', signal: impatient.signal });
    impatient.abort(new Error('too late'));
    await expect(second).rejects.toThrow('too late');
    letGo.resolve();
    await first;
    await expect(inSlot(async () => Promise.reject(new Error('no')), { key: 'a', signal })).rejects.toThrow('no');
    expect(await inSlot(async () => 'in', { key: 'a', signal })).toBe('in');
  });
});
