import { expect, it } from 'vitest';
import { buildPages, hasPages } from './supervisor-pages.ts';

it.each([
  ['/somewhere/else', true],
  ['', false],
])('builds nothing when WEB_DIR is %j', async (WEB_DIR, isServed) => {
  const said: string[] = [];
  const { signal } = new AbortController();
  await buildPages({
    env: { WEB_DIR },
    isWatching: true,
    areStale: Promise.resolve(true),
    signal,
    say: (line) => said.push(line),
  });
  expect(said).toEqual([]);
  expect(hasPages({ WEB_DIR })).toBe(isServed);
});
