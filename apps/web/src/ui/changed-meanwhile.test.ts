import { expect, it } from 'vitest';
import { changedSince } from './changed-meanwhile.tsx';

it('finds the fields that somebody else changed, by their content', () => {
  const opened = { name: 'Sales', members: ['anna', 'ben'], note: null as string | null, seen: 1 };
  expect(changedSince(opened, { ...opened, members: ['anna', 'ben'] }, ['name', 'members', 'note'])).toEqual([]);
  expect(changedSince(opened, { ...opened, members: ['anna'], note: '' }, ['name', 'members', 'note'])).toEqual([
    'members',
    'note',
  ]);
  expect(changedSince(opened, { ...opened, seen: 2 }, ['name'])).toEqual([]);
});
