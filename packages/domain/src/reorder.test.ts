import { expect, it } from 'vitest';
import { z } from 'zod';
import { newId } from './ids.ts';
import { checkCompleteOrder, reorderBody } from './reorder.ts';

const [a, b, c] = [newId(), newId(), newId()];
const body = reorderBody({ widgetId: z.string().optional() }, 3);

it('parses a bare list and an object with the list alike', () => {
  expect(body.parse([a, b])).toEqual({ ids: [a, b] });
  expect(body.parse({ ids: [a.toUpperCase()], widgetId: 'w', more: 1 })).toEqual({ ids: [a], widgetId: 'w' });
});

it.each([
  ['null', null, ''],
  ['text', 'a', ''],
  ['no list', {}, 'ids'],
  ['null for the list', { ids: null }, 'ids'],
  ['an invalid id', [a, 'b'], 'ids.1'],
  ['a list within', { ids: [[a]] }, 'ids.0'],
  ['too many ids', [a, b, c, newId()], 'ids'],
])('refuses %s and names the path', (_case, input, path) => {
  expect(body.safeParse(input).error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
});

it('describes both forms', () => {
  expect(z.toJSONSchema(body, { io: 'input' })).toMatchObject({ anyOf: [{ type: 'object' }, { type: 'array' }] });
});

it('accepts only an order with each id exactly once', () => {
  expect(() => checkCompleteOrder([a, b, c], [c, a, b])).not.toThrow();
  expect(() => checkCompleteOrder([], [])).not.toThrow();
  for (const wrong of [[], [a, b], [a, b, b], [a, b, c, c], [a, b, newId()], [a, b, c, newId()]]) {
    expect(() => checkCompleteOrder([a, b, c], wrong)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }));
  }
});
