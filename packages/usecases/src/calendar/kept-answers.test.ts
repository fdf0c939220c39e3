import { expect, it } from 'vitest';
import { keepAnswers } from './kept-answers.ts';

const made: string[] = [];
const answer =
  (key: string, bytes = 10, until = Infinity) =>
  async () => {
    made.push(key);
    return { key, bytes, until };
  };

it('makes an answer once for all who ask for it meanwhile, and keeps it', async () => {
  const get = keepAnswers(1_000);
  made.length = 0;
  const answers = await Promise.all([get('a', answer('a')), get('a', answer('a')), get('b', answer('b'))]);
  expect(answers.map(({ bytes }) => bytes)).toEqual([10, 10, 10]);
  await get('a', answer('a'));
  expect(made).toEqual(['a', 'b']);
});

it('drops those nobody asked for the longest once there are too many bytes, and keeps none that is larger than all of them', async () => {
  const get = keepAnswers(35);
  made.length = 0;
  for (const key of ['a', 'b', 'c', 'a', 'd', 'a', 'b']) await get(key, answer(key));
  // The keys count: of four there is room for three, and 'a' was asked for again before 'd' came.
  expect(made).toEqual(['a', 'b', 'c', 'd', 'b']);
  await get('large', answer('large', 100));
  await get('large', answer('large', 100));
  expect(made.slice(5)).toEqual(['large', 'large']);
});

it('makes one that failed again', async () => {
  const get = keepAnswers(1_000);
  await expect(get('a', () => Promise.reject(new Error('not now')))).rejects.toThrow('not now');
  expect(await get('a', answer('a'))).toMatchObject({ bytes: 10 });
});

it('makes one again whose time is over', async () => {
  const get = keepAnswers(25);
  made.length = 0;
  await get('a', answer('a', 10, performance.now() + 60_000));
  await get('a', answer('a', 10, performance.now() - 1));
  expect(made).toEqual(['a']);
  // What is over takes no room.
  for (let n = 0; n < 3; n += 1) await get('b', answer('b', 10, performance.now()));
  await get('a', answer('a'));
  expect(made).toEqual(['a', 'b', 'b', 'b']);
});
