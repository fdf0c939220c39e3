import { z } from 'zod';
import { invalid } from '../errors.ts';
import { requiredLine } from '../text.ts';
import { ModuleKey, modules } from './modules.ts';

/** The category for custom modules: always last, never deleted. */
export const customModulesKey = 'custom-modules';

/** Maximum number of categories of a tenant. */
export const categoryLimit = 100;

export const CategoryName = requiredLine().meta({ example: 'Außendienst' });

export const ModuleCategory = z
  .object({
    key: z.string().describe('Derived from the name at creation; renaming does not change it'),
    name: z.string(),
    position: z.int().describe('Counted from 0 without gaps'),
    moduleKeys: z.array(ModuleKey).describe('Keys of its built-in modules'),
  })
  .meta({
    id: 'ModuleCategory',
    example: { key: 'sales', name: 'Sales', position: 2, moduleKeys: ['tender-radar'] },
  });
export type ModuleCategory = z.output<typeof ModuleCategory>;

/** A category as stored, without its position: lists of categories are in order. */
export interface Category {
  id: string;
  key: string;
  name: string;
}

/** A tenant's categories in order, and the built-in modules its administrators have moved. */
export interface Arrangement {
  categories: readonly Category[];
  /** Category id by module key; contains only modules an administrator has moved. */
  placements: Readonly<Record<string, string>>;
}

/**
 * The category of each built-in module, in the order of the registry. A module that was never moved is in its default category, or in
 * the first one if that is gone: a later release may bring a module to a tenant that has deleted the default categories.
 */
export function placeModules({ categories, placements }: Arrangement): { module: ModuleKey; category: Category }[] {
  const byId = new Map(categories.map((category) => [category.id, category]));
  const byKey = new Map(categories.map((category) => [category.key, category]));
  const [first] = categories;
  if (!first) throw new Error('a tenant without categories has no place for modules');
  return modules.map(({ key, defaultCategory }) => ({
    module: key,
    category: byId.get(placements[key] ?? '') ?? byKey.get(defaultCategory) ?? first,
  }));
}

/** The categories as shown to clients. */
export function showCategories(arrangement: Arrangement): ModuleCategory[] {
  const placed = placeModules(arrangement);
  return arrangement.categories.map(({ id, key, name }, position) => ({
    key,
    name,
    position,
    moduleKeys: placed.filter(({ category }) => category.id === id).map(({ module }) => module),
  }));
}

/**
 * The categories in the order of `keys`. `custom-modules` is always last, whether `keys` names it or not.
 * Throws 400 unless `keys` names every other category exactly once.
 */
export function orderCategories(categories: readonly Category[], keys: readonly string[]): Category[] {
  const movable = new Map(categories.filter(({ key }) => key !== customModulesKey).map((one) => [one.key, one]));
  const wanted = keys.filter((key) => key !== customModulesKey);
  const ordered = wanted.flatMap((key) => movable.get(key) ?? []);
  const isComplete = ordered.length === wanted.length && ordered.length === movable.size;
  if (!isComplete || new Set(keys).size !== keys.length)
    throw invalid('VALIDATION_FAILED', 'The order must name every category once.', {
      details: [{ path: 'keys', message: 'must name every category once' }],
    });
  return [...ordered, ...categories.filter(({ key }) => key === customModulesKey)];
}

const transliterations: Record<string, string> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  ø: 'o',
  œ: 'oe',
  ł: 'l',
};

/** A key for a new category: its name in lower-case ASCII with hyphens, numbered if another category has that key. */
export function categoryKey(name: string, taken: ReadonlySet<string>): string {
  const slug = name
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[äöüßæøœł]/g, (letter) => transliterations[letter] ?? letter)
    .normalize('NFD')
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replaceAll(/^-+|(?<!-)-+$/g, '');
  // A name in another script leaves nothing.
  const base = slug === '' ? 'category' : slug;
  for (let n = 1; ; n += 1) {
    const key = n === 1 ? base : `${base}-${n}`;
    if (!taken.has(key)) return key;
  }
}
