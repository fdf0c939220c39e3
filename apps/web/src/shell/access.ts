import type { ActiveModule, Profile } from '@portal/client/interface';
import type { Who } from '../routes.ts';

/** Why an account may not open a page: the role or the grant that it lacks. */
export type Lack = 'ADMIN' | 'SUPER_ADMIN' | 'module' | 'manage';

interface Caller {
  role: Profile['role'];
  /** Undefined until they are known. */
  modules: readonly ActiveModule[] | undefined;
}

/** What the account lacks for a page; null if it may open it, `unknown` until its modules are known. */
export function lackFor(who: Who, { role, modules }: Caller): Lack | 'unknown' | null {
  if (who === 'public' || who === 'account') return null;
  if (who === 'ADMIN') return role === 'USER' ? who : null;
  if (who === 'SUPER_ADMIN') return role === who ? null : who;
  if (!modules) return 'unknown';
  const found = modules.find(({ key, kind }) => kind === 'builtin' && key === who.module);
  if (!found) return 'module';
  return who.level === 'USE' || found.level === 'MANAGE' ? null : 'manage';
}
