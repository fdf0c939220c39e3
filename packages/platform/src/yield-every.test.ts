import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { yieldEvery } from './yield-every.ts';

const work = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

it('yields to the event loop during a long loop', async () => {
  const yieldIfDue = yieldEvery(new AbortController().signal);
  let isElsewhereDone = false;
  const elsewhere = pause(1).then(() => (isElsewhereDone = true));
  let rounds = 0;
  while (!isElsewhereDone && rounds < 10_000) {
    work(1);
    rounds += 1;
    await yieldIfDue();
  }
  expect(isElsewhereDone).toBe(true);
  await elsewhere;
});

it('throws when the signal is aborted', async () => {
  const stop = new AbortController();
  const yieldIfDue = yieldEvery(stop.signal);
  stop.abort(new Error('enough'));
  work(25);
  await expect(yieldIfDue()).rejects.toThrow('enough');
});
