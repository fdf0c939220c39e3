import { z } from 'zod';

/** The level of a grant; MANAGE includes USE. */
export const GrantLevel = z.enum(['USE', 'MANAGE']);
export type GrantLevel = z.output<typeof GrantLevel>;

/** What a route may require on a module that is on: a grant, or an administrator, which no grant replaces. */
export type NeededLevel = GrantLevel | 'ADMIN';

/** The initial headings of a tenant's sidebar, in this order. The last one is for custom modules and stays last. */
export const defaultCategories = [
  { key: 'infrastructure', name: 'Infrastructure' },
  { key: 'accounting', name: 'Financial accounting' },
  { key: 'sales', name: 'Sales' },
  { key: 'tools', name: 'Tools' },
  { key: 'custom-modules', name: 'Custom modules' },
] as const;

interface ModuleEntry {
  key: string;
  name: string;
  /** One sentence for the administrator who grants access to the module. */
  description: string;
  defaultCategory: (typeof defaultCategories)[number]['key'];
  /** Whether any of its routes needs the level MANAGE. */
  hasManage: boolean;
}

/**
 * Every module of the product, in the order shown within a category. An area adds its module only here: catalog, grants, switches,
 * placement and the route marker `needs` follow from the entry.
 */
export const modules = [
  {
    key: 'virtualization',
    name: 'Virtualization',
    description: 'Watches virtualization, backup and mail gateway servers.',
    defaultCategory: 'infrastructure',
    hasManage: true,
  },
  {
    key: 'cloud-status',
    name: 'Cloud status',
    description: 'Checks cloud instances and their versions, and reports failures by mail.',
    defaultCategory: 'infrastructure',
    hasManage: true,
  },
  {
    key: 'certificate-manager',
    name: 'Certificate manager',
    description: 'Analyzes certificates and keys and converts them from one format to another.',
    defaultCategory: 'infrastructure',
    hasManage: false,
  },
  {
    key: 'tender-radar',
    name: 'Tender radar',
    description: 'Finds public tenders by saved searches and reports new ones.',
    defaultCategory: 'sales',
    hasManage: false,
  },
  {
    key: 'canteen-billing',
    name: 'Canteen billing',
    description: 'Turns canteen sales into a file for payroll accounting.',
    defaultCategory: 'accounting',
    hasManage: true,
  },
  {
    key: 'merchandise-export',
    name: 'Merchandise export',
    description: 'Turns merchandise lists into a file for financial accounting.',
    defaultCategory: 'accounting',
    hasManage: true,
  },
  {
    key: 'invoice-mailbox',
    name: 'Invoice mailbox',
    description: 'Fetches invoices from a mailbox and extracts their data.',
    defaultCategory: 'accounting',
    hasManage: true,
  },
  {
    key: 'calendar',
    name: 'Calendar',
    description: 'Shows the events of calendars that each user adds.',
    defaultCategory: 'tools',
    hasManage: false,
  },
] as const satisfies readonly ModuleEntry[];

const moduleKeys = modules.map(({ key }) => key);

export const ModuleKey = z.enum(moduleKeys);
export type ModuleKey = z.output<typeof ModuleKey>;

const knownKeys = new Set<string>(moduleKeys);
/** False for a stored key of a module that only another release has. */
export const isModuleKey = (key: string): key is ModuleKey => knownKeys.has(key);

const names = new Map(modules.map(({ key, name }) => [key, name]));
export const moduleName = (key: ModuleKey): string => names.get(key) ?? key;

/** A module with a tenant's settings. */
export const Module = z
  .object({
    key: ModuleKey,
    name: z.string(),
    enabled: z.boolean().describe('False if an administrator has switched it off for the whole tenant'),
    category: z.string().describe('Key of its category'),
  })
  .meta({
    id: 'Module',
    example: { key: 'virtualization', name: 'Virtualization', enabled: true, category: 'infrastructure' },
  });
export type Module = z.output<typeof Module>;

export const CatalogModule = z
  .object({
    key: ModuleKey,
    name: z.string(),
    description: z.string(),
    defaultCategory: z.string(),
    hasManage: z.boolean().describe('Whether the level MANAGE allows more than USE does'),
  })
  .meta({ id: 'CatalogModule', example: modules[0] });

/** An entry of the caller's sidebar: a built-in module or a custom one. */
export const ActiveModule = z
  .object({
    key: z.string().describe('For a custom module, `custom:` followed by its id'),
    name: z.string(),
    kind: z.enum(['builtin', 'custom']),
    url: z.string().optional().describe('Address of the page; only for custom modules'),
    category: z.string(),
    categoryName: z.string(),
    level: GrantLevel,
    canManage: z
      .boolean()
      .describe('True if the level is MANAGE; for a custom module, whether the caller may change it'),
  })
  .meta({
    id: 'ActiveModule',
    example: {
      key: 'tender-radar',
      name: 'Tender radar',
      kind: 'builtin',
      category: 'sales',
      categoryName: 'Sales',
      level: 'USE',
      canManage: false,
    },
  });
export type ActiveModule = z.output<typeof ActiveModule>;
