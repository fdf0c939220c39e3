import { and, asc, eq, ilike, or, sql } from 'drizzle-orm';
import { containing } from '@portal/db/containing';
import type { Tx } from '@portal/db/open';
import { preparedFor } from '@portal/db/prepared';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { isSuperAdmin, type Role } from '@portal/domain/access';
import { tenantNamedBy, type User } from '@portal/domain/accounts/accounts';
import type { UserContext } from '@portal/platform/context';
import { requireTenant } from '@portal/platform/require-tenant';
import { type Account, accountColumns, toUser } from './account-columns.ts';
import { accountFor, administer } from './administer.ts';

/** Where a search looks, whatever the case. */
const searched = ['username', 'email', 'displayName', 'firstName', 'lastName'] as const;

/** What filters look at. */
const filtered = {
  role: users.role,
  isActive: users.isActive,
  ldapDn: users.ldapDn,
  username: users.username,
  email: users.email,
  displayName: users.displayName,
  firstName: users.firstName,
  lastName: users.lastName,
};

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
  { tenantId: named, limit, search, ...filter }: UserFilter,
): Promise<{ items: User[]; next: string | null; total?: number }> {
  const tenantId = tenantNamedBy(ctx.actor, named);
  const params = { ...filter, limit: limit + 1, ...(search && { pattern: containing(search) }) };
  if (tenantId !== null && tenantId !== ctx.tenantId) await requireTenant(ctx, tenantId);
  const read = (values: PageParams): Promise<Row[]> => {
    const run = (tx: Tx) => tx.runAndCommit(usersPage(values), values);
    return isSuperAdmin(ctx.actor) && tenantId === null
      ? ctx.acrossTenants('a SUPER_ADMIN lists accounts', run)
      : ctx.inTenant(tenantId ?? ctx.tenantId).tx(run);
  };
  const rows = await read(params);
  // A page behind the last account has no row to tell the total by.
  const [row] =
    rows.length > 0 || filter.after === undefined ? rows : await read({ ...params, after: undefined, limit: 1 });
  const total = row ? row.total : 0;
  const items = rows.slice(0, limit).map(({ total: _total, ...account }) => toUser(account));
  return {
    items,
    next: rows.length > limit ? (items.at(-1)?.username ?? null) : null,
    ...(total !== null && { total }),
  };
}

/** Beyond so many accounts nobody is told how many match: counting them would take longer than the page. */
const maxCounted = 10_000;

type PageParams = {
  limit: number;
  after?: string | undefined;
  pattern?: string | undefined;
} & Pick<UserFilter, 'role' | 'isActive' | 'source'>;
type Row = Account & { total: number | null };

export const usersPage = preparedFor<PageParams>()('users_page', (db, given) => {
  const counted = db
    .select(filtered)
    .from(users)
    .limit(maxCounted + 1)
    .as('counted');
  const matches = (columns: typeof counted | typeof users) =>
    and(
      given('role') ? eq(columns.role, sql.placeholder('role')) : undefined,
      given('isActive') ? eq(columns.isActive, sql.placeholder('isActive')) : undefined,
      given('source') ? sql`(${columns.ldapDn} is null) = (${sql.placeholder('source')} = 'local')` : undefined,
      given('pattern') ? or(...searched.map((name) => ilike(columns[name], sql.placeholder('pattern')))) : undefined,
    );
  const total = sql<number | null>`(
    select case when count(*) <= ${sql.raw(String(maxCounted))} then count(*) filter (where ${matches(counted) ?? sql`true`}) end
    from ${counted}
  )::int`;
  return db
    .select({ ...accountColumns, total: total.as('total') })
    .from(users)
    .innerJoin(tenants, eq(tenants.id, users.tenantId))
    .where(and(matches(users), given('after') ? sql`${users.username} > ${sql.placeholder('after')}` : undefined))
    .orderBy(asc(users.username))
    .limit(sql.placeholder('limit'));
});

/** One account the actor may administer; 404 for any other. */
export const getUser = (ctx: UserContext, userId: string): Promise<User> =>
  administer(ctx, async (tx) => toUser(await accountFor(tx, userId)));
