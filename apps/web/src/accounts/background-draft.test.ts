import { expect, it } from 'vitest';
import { backgroundOf, draftOf, isComplete } from './background-draft.ts';

it.each([
  { kind: 'none' as const },
  { kind: 'color' as const, color: '#0f172a' },
  { kind: 'gradient' as const, from: '#000000', to: '#ffffff', angle: 90 },
  {
    kind: 'image' as const,
    imageId: '0198d3c5-2d3e-7f40-8b5c-6d7e8f9a0b1c',
    fit: 'tile' as const,
    dim: 0,
    blur: 40,
  },
])('keeps %j', (background) => {
  expect(backgroundOf(draftOf(background))).toEqual(background);
});

it('keeps the fields of the other kinds while one is tried', () => {
  const draft = draftOf({ kind: 'gradient', from: '#000000', to: '#ffffff', angle: 90 });
  const tried = { ...draft, kind: 'color' as const };
  expect(backgroundOf(tried)).toEqual({ kind: 'color', color: draft.color });
  expect(backgroundOf({ ...tried, kind: 'gradient' })).toEqual({
    kind: 'gradient',
    from: '#000000',
    to: '#ffffff',
    angle: 90,
  });
});

it('completes a colour and leaves rubbish to the service', () => {
  const draft = draftOf({ kind: 'none' });
  expect(backgroundOf({ ...draft, kind: 'color', color: ' FFF ' })).toEqual({ kind: 'color', color: '#ffffff' });
  expect(backgroundOf({ ...draft, kind: 'color', color: 'red;' })).toEqual({ kind: 'color', color: 'red;' });
});

it('shows only what is a colour or a picture', () => {
  const draft = draftOf({ kind: 'none' });
  const shows = (changes: Partial<typeof draft>) => isComplete(backgroundOf({ ...draft, ...changes }));
  expect(shows({})).toBe(true);
  expect(shows({ kind: 'color' })).toBe(true);
  expect(shows({ kind: 'color', color: 'url(//example.org)' })).toBe(false);
  expect(shows({ kind: 'gradient', to: 'red), url(//example.org)' })).toBe(false);
  expect(shows({ kind: 'image' })).toBe(false);
  expect(shows({ kind: 'image', imageId: '0198d3c5-2d3e-7f40-8b5c-6d7e8f9a0b1c' })).toBe(true);
});
