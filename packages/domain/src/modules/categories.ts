import { z } from 'zod';
import { invalid } from '../errors.ts';
import { requiredLine } from '../text.ts';
import { ModuleKey, modules } from './modules.ts';

/** The category for modules of the tenant's own: always last, never deleted. */
export const customModulesKey = 'custom-modules';

/** How many categories a tenant may have. */
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

/** A category as it is stored, less its position: lists of them are in order. */
export interface Category {
  id: string;
  key: string;
  name: string;
}

/** A tenant's categories in order, and where its administrators put the built-in modules. */
export interface Arrangement {
  categories: readonly Category[];
  /** Category id by module key; a module that nobody has moved is not in it. */
  placements: Readonly<Record<string, string>>;
}

/**
 * The category each built-in module stands in, in the order of the registry. One that was never placed stands in its default category,
 * or in the first one where that is gone: a later release may bring a module to a tenant that has none of the default categories left.
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

/** The categories as they are shown. */
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
 * The categories in the order of `keys`, `custom-modules` last wherever it stands in them or whether it stands there at all.
 * Throws 400 unless every other category is named, once.
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

/** A key for a new category: its name in lower-case ASCII with hyphens, numbered where another category has that already. */
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
  // A name in another script leaves nothing over.
  const base = slug === '' ? 'category' : slug;
  for (let n = 1; ; n += 1) {
    const key = n === 1 ? base : `${base}-${n}`;
    if (!taken.has(key)) return key;
  }
}
