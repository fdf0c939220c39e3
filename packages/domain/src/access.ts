import { z } from 'zod';
import type { ModuleKey, NeededLevel } from './modules/modules.ts';

export const Role = z.enum(['SUPER_ADMIN', 'ADMIN', 'USER']);
export type Role = z.infer<typeof Role>;

const rank: Record<Role, number> = { USER: 0, ADMIN: 1, SUPER_ADMIN: 2 };

/** Whether `role` includes the rights of `needed`: SUPER_ADMIN includes ADMIN, and ADMIN includes USER. */
export const hasRole = (role: Role, needed: Role): boolean => rank[role] >= rank[needed];

/** The account that a request acts for, read from the database for this request. */
export interface Actor {
  id: string;
  tenantId: string;
  username: string;
  displayName: string | null;
  role: Role;
}

export const isAdmin = (actor: Pick<Actor, 'role'>): boolean => hasRole(actor.role, 'ADMIN');
export const isSuperAdmin = (actor: Pick<Actor, 'role'>): boolean => actor.role === 'SUPER_ADMIN';

/** Who may call a route. `open` needs a reason, because it is the only way past the session check. */
export type Access =
  | { kind: 'open'; why: string }
  | { kind: 'signedIn' }
  | { kind: 'role'; role: Role }
  | { kind: 'module'; module: ModuleKey; level: NeededLevel };

export const open = (why: string): Access => ({ kind: 'open', why });
export const signedIn: Access = { kind: 'signedIn' };
export const role = (needed: Role): Access => ({ kind: 'role', role: needed });
/** The module must be on, and granted to the caller at this level. Administrators hold MANAGE; only they pass ADMIN. */
export const needs = (module: ModuleKey, level: NeededLevel): Access => ({ kind: 'module', module, level });

/** One line per route for the reviewed list of who may call what. */
export const describeAccess = (access: Access): string => {
  switch (access.kind) {
    case 'open':
      return `open (${access.why})`;
    case 'signedIn':
      return 'signed in';
    case 'role':
      return access.role;
    case 'module':
      return `${access.level.toLowerCase()}:${access.module}`;
  }
};
