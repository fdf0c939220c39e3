import { expect, it } from 'vitest';
import { openAnswerCache } from './answer-cache.ts';

const made: string[] = [];
const answer =
  (key: string, bytes = 10, until = Infinity) =>
  async () => {
    made.push(key);
    return { key, bytes, until };
  };

it('computes an answer once for concurrent callers, and stores it', async () => {
  const get = openAnswerCache(1_000);
  made.length = 0;
  const answers = await Promise.all([get('a', answer('a')), get('a', answer('a')), get('b', answer('b'))]);
  expect(answers.map(({ bytes }) => bytes)).toEqual([10, 10, 10]);
  await get('a', answer('a'));
  expect(made).toEqual(['a', 'b']);
});

it('drops the least recently used answers above the limit, and stores none larger than the limit', async () => {
  const get = openAnswerCache(35);
  made.length = 0;
  for (const key of ['a', 'b', 'c', 'a', 'd', 'a', 'b']) await get(key, answer(key));
  // The keys count: three of four entries fit, and 'a' was requested again before 'd' came.
  expect(made).toEqual(['a', 'b', 'c', 'd', 'b']);
  await get('large', answer('large', 100));
  await get('large', answer('large', 100));
  expect(made.slice(5)).toEqual(['large', 'large']);
});

it('computes a failed answer again', async () => {
  const get = openAnswerCache(1_000);
  await expect(get('a', () => Promise.reject(new Error('not now')))).rejects.toThrow('not now');
  expect(await get('a', answer('a'))).toMatchObject({ bytes: 10 });
});

it('computes an expired answer again', async () => {
  const get = openAnswerCache(25);
  made.length = 0;
  await get('a', answer('a', 10, performance.now() + 60_000));
  await get('a', answer('a', 10, performance.now() - 1));
  expect(made).toEqual(['a']);
  // Expired answers take no space.
  for (let n = 0; n < 3; n += 1) await get('b', answer('b', 10, performance.now()));
  await get('a', answer('a'));
  expect(made).toEqual(['a', 'b', 'b', 'b']);
});
