import { assert, date, nat, property } from 'fast-check';
import { expect, it } from 'vitest';
import { isoOf } from './time.ts';

it('writes instants as `toISOString` does, whatever was written before', () => {
  assert(
    property(date({ noInvalidDate: true }), nat(172_800_000), (instant, later) => {
      const next = new Date(Math.min(instant.getTime() + later, 8.64e15));
      for (const each of [instant, next, instant]) expect(isoOf(each)).toBe(each.toISOString());
    }),
  );
  expect(() => isoOf(new Date(Number.NaN))).toThrow(RangeError);
});
