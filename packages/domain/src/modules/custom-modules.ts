import { z } from 'zod';
import { type Actor, isAdmin } from '../access.ts';
import { forbidden, notFound } from '../errors.ts';
import { Id } from '../ids.ts';
import { requiredLine } from '../text.ts';
import { HttpsAddress } from '../web-address.ts';
import { customModulesKey } from './categories.ts';

/** Maximum number of custom modules: private to one account, and shared within a tenant. */
export const customModuleLimits = { personal: 100, shared: 500 } as const;

const fields = {
  name: requiredLine().meta({ example: 'Wiki' }),
  url: HttpsAddress,
  category: requiredLine().describe('Key of a category'),
  sortOrder: z
    .int()
    .min(-1_000_000)
    .max(1_000_000)
    .describe('Modules with smaller numbers come first within a category'),
};

const example = { name: 'Wiki', url: 'https://wiki.example.org/start', category: customModulesKey, sortOrder: 10 };

export const NewCustomModule = z
  .object({
    ...fields,
    category: fields.category.default(customModulesKey),
    sortOrder: fields.sortOrder.default(0),
    shared: z.boolean().default(false).describe('True shows it to the whole tenant; only administrators may set it'),
  })
  .meta({ example: { ...example, shared: false } });
export type NewCustomModule = z.output<typeof NewCustomModule>;

export const CustomModuleChange = z.object(fields).partial().meta({ example });
export type CustomModuleChange = z.output<typeof CustomModuleChange>;

export const CustomModule = z
  .object({
    id: Id,
    name: z.string(),
    url: z.string(),
    category: z.string(),
    ownerUserId: Id.nullable().describe('Null if the module is shared with the tenant'),
    sortOrder: z.int(),
  })
  .meta({
    id: 'CustomModule',
    example: { id: '0198d3c4-2c3d-7e4f-8a5b-7c8d9e0f1a2b', ownerUserId: null, ...example },
  });
export type CustomModule = z.output<typeof CustomModule>;

/** Throws 404 for another account’s private module, also for administrators, and 403 if a non-administrator changes a shared one. */
export function checkMayChange(
  actor: Pick<Actor, 'id' | 'role'>,
  { ownerUserId }: { ownerUserId: string | null },
): void {
  if (ownerUserId === null && !isAdmin(actor))
    throw forbidden('FORBIDDEN', 'Only administrators may change a shared module.');
  if (ownerUserId !== null && ownerUserId !== actor.id) throw notFound();
}
