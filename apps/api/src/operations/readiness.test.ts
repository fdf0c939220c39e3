import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { sharedCheck } from './readiness.ts';

it('looks at database and queue once for all who ask within a second, and again afterwards', async () => {
  let looks = 0;
  const ping = async () => {
    looks += 1;
    await pause(50);
  };
  const check = sharedCheck({ database: { ping }, queues: { ping: async () => undefined } });
  const answers = await Promise.all(Array.from({ length: 200 }, check));
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toEqual({ database: null, queue: null });
  await check();
  expect(looks).toBe(1);
  await pause(1_100);
  await check();
  expect(looks).toBe(2);
});

it('says why each does not answer, also when it says nothing for two seconds', async () => {
  const refused = new Error('refused');
  const check = sharedCheck({
    database: { ping: () => Promise.reject(refused) },
    queues: { ping: () => new Promise(() => undefined) },
  });
  expect(await check()).toEqual({ database: { cause: refused }, queue: { cause: new Error('No answer in time') } });
});
