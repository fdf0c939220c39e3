import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { sharedCheck } from './readiness.ts';

it('checks database and queue once for all callers within a second, and again afterwards', async () => {
  let pings = 0;
  const ping = async () => {
    pings += 1;
    await pause(50);
  };
  const check = sharedCheck({ database: { ping }, queues: { ping: async () => undefined } });
  const answers = await Promise.all(Array.from({ length: 200 }, check));
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toEqual({ database: null, queue: null });
  await check();
  expect(pings).toBe(1);
  await pause(1_100);
  await check();
  expect(pings).toBe(2);
});

it('says why each does not answer, also after two seconds of silence', async () => {
  const refused = new Error('refused');
  const check = sharedCheck({
    database: { ping: () => Promise.reject(refused) },
    queues: { ping: () => new Promise(() => undefined) },
  });
  expect(await check()).toEqual({ database: { cause: refused }, queue: { cause: new Error('No answer in time') } });
});
