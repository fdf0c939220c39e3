import { expect, it } from 'vitest';
import { sharedBuffersFor } from './supervisor-database.ts';

it('gives the database an eighth of the memory, within bounds', () => {
  const GiB = 1024 ** 3;
  expect([0.25, 0.5, 1, 2.5, 4, 64].map((size) => sharedBuffersFor(size * GiB))).toEqual([
    '64MB',
    '64MB',
    '128MB',
    '320MB',
    '512MB',
    '512MB',
  ]);
});
