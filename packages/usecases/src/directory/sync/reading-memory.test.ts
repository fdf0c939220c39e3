import { expect, it } from 'vitest';
import { openReadingMemory } from './reading-memory.ts';

const begin = () => openReadingMemory({ each: 60, all: 100, always: 10, advice: 'Please take less.' });

it('stops a reading that exceeds its budget', () => {
  const one = begin()();
  one.take(60);
  expect(() => one.take(1)).toThrow(expect.objectContaining({ code: 'DIRECTORY_UNAVAILABLE', kind: 'upstream' }));
});

it('stops all but small readings while others use the budget, and frees it afterwards', () => {
  const beginReading = begin();
  const [first, second] = [beginReading(), beginReading()];
  first.take(60);
  second.take(40);
  const small = beginReading();
  small.take(10);
  expect(() => small.take(1)).toThrow(expect.objectContaining({ kind: 'busy' }));
  expect(() => second.take(1)).toThrow(expect.objectContaining({ kind: 'busy' }));
  for (const reading of [first, second, small]) reading[Symbol.dispose]();
  first[Symbol.dispose]();
  const next = beginReading();
  next.take(60);
  beginReading().take(40);
});

it('takes back released memory', () => {
  const one = begin()();
  for (let page = 0; page < 5; page += 1) {
    one.take(50);
    one.take(-50);
  }
  one.take(60);
  expect(() => one.take(1)).toThrow(expect.objectContaining({ kind: 'upstream' }));
});
