import { array, assert, constantFrom, property, record, shuffledSubarray, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Arrangement,
  type Category,
  categoryKey,
  orderCategories,
  placeModules,
  showCategories,
} from './categories.ts';
import { defaultCategories, modules } from './modules.ts';

const standard: Category[] = defaultCategories.map(({ key, name }) => ({ id: `id-of-${key}`, key, name }));
const category = (key: string): Category => standard.find((one) => one.key === key) as Category;

describe('a module', () => {
  it('is in its default category until it is moved', () => {
    expect(showCategories({ categories: standard, placements: {} })).toEqual([
      {
        key: 'infrastructure',
        name: 'Infrastructure',
        position: 0,
        moduleKeys: ['virtualization', 'cloud-status', 'certificate-manager'],
      },
      {
        key: 'accounting',
        name: 'Financial accounting',
        position: 1,
        moduleKeys: ['canteen-billing', 'merchandise-export', 'invoice-mailbox'],
      },
      { key: 'sales', name: 'Sales', position: 2, moduleKeys: ['tender-radar'] },
      { key: 'tools', name: 'Tools', position: 3, moduleKeys: ['calendar'] },
      { key: 'custom-modules', name: 'Custom modules', position: 4, moduleKeys: [] },
    ]);
    const moved = { categories: standard, placements: { calendar: category('sales').id } };
    expect(showCategories(moved).map(({ moduleKeys }) => moduleKeys.length)).toEqual([3, 3, 2, 0, 0]);
  });

  it('that was never moved is in the first category if its default category is deleted', () => {
    const categories = standard.filter(({ key }) => key !== 'tools');
    expect(placeModules({ categories, placements: {} }).find(({ module }) => module === 'calendar')?.category.key).toBe(
      'infrastructure',
    );
  });

  it('is in exactly one category after any deletions and moves', () => {
    const placement = record({ module: constantFrom(...modules.map(({ key }) => key)), to: constantFrom(...standard) });
    assert(
      property(shuffledSubarray(standard, { minLength: 1 }), array(placement), (categories, moves) => {
        const placements = Object.fromEntries(moves.map(({ module, to }) => [module, to.id]));
        const arrangement: Arrangement = { categories, placements };
        const shown = showCategories(arrangement).flatMap(({ moduleKeys }) => moduleKeys);
        expect(shown.toSorted()).toEqual(modules.map(({ key }) => key).toSorted());
      }),
    );
  });
});

describe('the order of categories', () => {
  const order = (...keys: string[]) => orderCategories(standard, keys).map(({ key }) => key);

  it('keeps custom-modules last, whether and where the keys name it', () => {
    const wanted = ['tools', 'sales', 'accounting', 'infrastructure', 'custom-modules'];
    expect(order('tools', 'sales', 'accounting', 'infrastructure')).toEqual(wanted);
    expect(order('tools', 'custom-modules', 'sales', 'accounting', 'infrastructure')).toEqual(wanted);
    expect(order('custom-modules', 'tools', 'sales', 'accounting', 'infrastructure')).toEqual(wanted);
  });

  it.each([
    ['nothing', []],
    ['too few', ['tools', 'sales', 'accounting']],
    ['one twice', ['tools', 'sales', 'accounting', 'infrastructure', 'tools']],
    ['one twice instead of another', ['tools', 'sales', 'accounting', 'tools']],
    ['custom-modules twice', ['custom-modules', 'tools', 'sales', 'accounting', 'infrastructure', 'custom-modules']],
    ['an unknown one', ['tools', 'sales', 'accounting', 'infrastructure', 'sport']],
  ])('is refused when it names %s', (_, keys) => {
    expect(() => order(...keys)).toThrow(expect.objectContaining({ kind: 'invalid', code: 'VALIDATION_FAILED' }));
  });
});

describe('the key of a category', () => {
  it.each([
    ['Außendienst', 'aussendienst'],
    ['Büro & Küche', 'buero-kueche'],
    ['ÖPNV / Straße', 'oepnv-strasse'],
    ['U\u0308bersicht', 'uebersicht'],
    ['Café Général', 'cafe-general'],
    ['  --Über 100 %--  ', 'ueber-100'],
    ['Łódź', 'lodz'],
    ['東京', 'category'],
    ['x'.repeat(200), 'x'.repeat(60)],
  ])('of %s is %s', (name, key) => {
    expect(categoryKey(name, new Set())).toBe(key);
  });

  it('gets a number if another category has it', () => {
    expect(categoryKey('Sport', new Set(['sport']))).toBe('sport-2');
    expect(categoryKey('Sport', new Set(['sport', 'sport-2', 'sport-4']))).toBe('sport-3');
  });

  it('is lower-case ASCII with single hyphens, for any name', () => {
    assert(
      property(string({ unit: 'grapheme' }), (name) => {
        expect(categoryKey(name, new Set())).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      }),
    );
  });
});
