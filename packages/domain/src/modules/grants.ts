import { z } from 'zod';
import { type Actor, isAdmin } from '../access.ts';
import { forbidden, type PortalError } from '../errors.ts';
import { Id } from '../ids.ts';
import { requiredLine } from '../text.ts';
import { GrantLevel, type ModuleKey, moduleName, type NeededLevel } from './modules.ts';

/** The tenant's disabled modules and the grants of an account, read for the current request. */
export interface ModuleStanding {
  disabled: readonly string[];
  /** The highest level granted to the account or one of its groups, by module key. */
  granted: Readonly<Record<string, GrantLevel>>;
}

/** The level an account has on a module; null if it has none. Administrators have MANAGE on every module that is on. */
export function effectiveLevel(
  actor: Pick<Actor, 'role'>,
  { disabled, granted }: ModuleStanding,
  module: ModuleKey,
): GrantLevel | null {
  if (disabled.includes(module)) return null;
  return isAdmin(actor) ? 'MANAGE' : (granted[module] ?? null);
}

/** The 403 for an account that may not call a route with this `level` of the module; its code says what is missing. Undefined if it may. */
export function moduleRefusal(
  actor: Pick<Actor, 'role'>,
  standing: ModuleStanding,
  { module, level }: { module: ModuleKey; level: NeededLevel },
): PortalError | undefined {
  const name = moduleName(module);
  if (standing.disabled.includes(module))
    return forbidden('MODULE_DISABLED', `${name} is switched off for your organization.`);
  if (level === 'ADMIN') return isAdmin(actor) ? undefined : forbidden();
  const held = effectiveLevel(actor, standing, module);
  if (held === null)
    return forbidden(
      'MODULE_ACCESS_DENIED',
      `You have no access to ${name}. Please ask an administrator of your organization.`,
    );
  if (level === 'MANAGE' && held === 'USE')
    return forbidden(
      'MANAGE_REQUIRED',
      `You may use ${name}, but not manage it. Please ask an administrator of your organization.`,
    );
  return undefined;
}

const anna = '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a11';

/** Identifies a grant. The module key is plain text: an unknown key is 404, like the id of an unknown group. */
export const GrantTarget = z
  .object({
    subjectType: z.enum(['group', 'user']),
    subjectId: Id,
    moduleKey: requiredLine(),
  })
  .meta({ example: { subjectType: 'user', subjectId: anna, moduleKey: 'tender-radar' } });
export type GrantTarget = z.output<typeof GrantTarget>;

export const ModuleGrant = GrantTarget.extend({ level: GrantLevel.default('USE') }).meta({
  id: 'ModuleGrant',
  example: { subjectType: 'user', subjectId: anna, moduleKey: 'tender-radar', level: 'USE' },
});
export type ModuleGrant = z.output<typeof ModuleGrant>;

export const GrantMatrix = z
  .object({
    modules: z.array(z.object({ key: z.string(), name: z.string(), enabled: z.boolean(), hasManage: z.boolean() })),
    subjects: z.array(
      z.object({
        type: z.enum(['group', 'user']),
        id: Id,
        name: z.string(),
        grants: z.record(z.string(), GrantLevel).describe('The level for each module key'),
      }),
    ),
  })
  .meta({
    id: 'GrantMatrix',
    example: {
      modules: [{ key: 'tender-radar', name: 'Tender radar', enabled: true, hasManage: false }],
      subjects: [{ type: 'user', id: anna, name: 'Anna Schmidt', grants: { 'tender-radar': 'USE' } }],
    },
  });
export type GrantMatrix = z.output<typeof GrantMatrix>;
