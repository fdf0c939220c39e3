import { expect, it } from 'vitest';
import { filtered } from './pick-filter.ts';

const items = ['Stadtwerke Nordheim', 'Klinik Übersee', 'Nordlicht GmbH'].map((text) => ({ text }));

it.each([
  ['', [0, 1, 2]],
  ['nord', [0, 2]],
  ['  heim STADT ', [0]],
  ['übersee', [1]],
  ['süd', []],
])('finds %j', (search, places) => {
  expect(filtered(items, search)).toEqual(places.map((place) => items[place]));
});
