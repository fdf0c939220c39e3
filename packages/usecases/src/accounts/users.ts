import { and, asc, count, eq, ilike, isNotNull, isNull, or, sql, type SQL } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { isSuperAdmin, type Role } from '@portal/domain/access';
import { tenantNamedBy, type User } from '@portal/domain/accounts/accounts';
import type { UserContext } from '@portal/platform/context';
import { requireTenant } from '@portal/platform/require-tenant';
import { accountColumns, toUser } from './account-columns.ts';
import { accountFor, administer } from './administer.ts';

export interface UserFilter {
  search?: string | undefined;
  role?: Role | undefined;
  isActive?: boolean | undefined;
  source?: 'local' | 'directory' | undefined;
  tenantId?: string | undefined;
  limit: number;
  /** The username the page before ended with. */
  after?: string | undefined;
}

/** Accounts by username: an ADMIN's own tenant; for a SUPER_ADMIN every tenant, or the one named. `next` continues the list. */
export async function listUsers(
  ctx: UserContext,
  filter: UserFilter,
): Promise<{ items: User[]; next: string | null; total: number }> {
  const tenantId = tenantNamedBy(ctx.actor, filter.tenantId);
  const matches = and(
    filter.role && eq(users.role, filter.role),
    filter.isActive !== undefined ? eq(users.isActive, filter.isActive) : undefined,
    filter.source && (filter.source === 'local' ? isNull(users.ldapDn) : isNotNull(users.ldapDn)),
    filter.search ? containing(filter.search) : undefined,
  );
  const query = async (db: Pick<Tx, 'select'>) =>
    Promise.all([
      db
        .select(accountColumns)
        .from(users)
        .innerJoin(tenants, eq(tenants.id, users.tenantId))
        .where(and(matches, filter.after !== undefined ? sql`${users.username} > ${filter.after}` : undefined))
        .orderBy(asc(users.username))
        .limit(filter.limit + 1),
      db.select({ total: count() }).from(users).where(matches),
    ]);
  const [rows, [counted]] = await (async () => {
    if (!isSuperAdmin(ctx.actor) || tenantId === ctx.tenantId) return ctx.read(query);
    if (tenantId === null) return ctx.acrossTenants('a SUPER_ADMIN lists accounts', query);
    await requireTenant(ctx, tenantId);
    return ctx.inTenant(tenantId).read(query);
  })();
  const items = rows.slice(0, filter.limit).map(toUser);
  return {
    items,
    next: rows.length > filter.limit ? (items.at(-1)?.username ?? null) : null,
    total: counted?.total ?? 0,
  };
}

/** One account the actor may administer; 404 for any other. */
export const getUser = (ctx: UserContext, userId: string): Promise<User> =>
  administer(ctx, async (tx) => toUser(await accountFor(tx, userId)));

/** Case-insensitive, anywhere in username, names or e-mail; `%` and `_` stand for themselves. */
function containing(search: string): SQL | undefined {
  const pattern = `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return or(
    ...[users.username, users.email, users.displayName, users.firstName, users.lastName].map((column) =>
      ilike(column, pattern),
    ),
  );
}
