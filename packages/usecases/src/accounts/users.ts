import { and, asc, eq, ilike, inArray, or, sql } from 'drizzle-orm';
import { containing } from '@portal/db/containing';
import type { Tx } from '@portal/db/open';
import { preparedFor } from '@portal/db/prepared';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { isSuperAdmin, type Role } from '@portal/domain/access';
import {
  checkMayAdminister,
  checkMayAssign,
  checkNewPassword,
  tenantNamedBy,
  type User,
} from '@portal/domain/accounts/accounts';
import { forbidden, invalidField } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { firstSeenRelease } from '@portal/domain/releases/releases';
import type { UserContext } from '@portal/platform/context';
import { nudgeMails } from '@portal/platform/outbox/queue-mail';
import { requireTenant } from '@portal/platform/require-tenant';
import { type Account, accountColumns, sourceOf, toUser } from './account-columns.ts';
import { accountFor, administer, checkSuperAdminRemains } from './administer.ts';
import { recordAudit } from './audit.ts';
import { loadCommonPasswords } from './common-passwords.ts';
import { passwordHashing } from './password-hashing.ts';
import { temporaryPasswordUntil } from './passwords.ts';
import { queueWelcomeMail } from './welcome-mails.ts';

/** Columns that a search covers, regardless of case. */
const searched = ['username', 'email', 'displayName', 'firstName', 'lastName'] as const;

/** Columns that the filters need. */
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
  /** The last username of the previous page. */
  after?: string | undefined;
}

/** Lists accounts by username: for an ADMIN those of their tenant, for a SUPER_ADMIN all or the named tenant's. `next` is the cursor. */
export async function listUsers(
  ctx: UserContext,
  { tenantId: named, limit, search, ...filter }: UserFilter,
): Promise<{ items: User[]; next: string | null; total?: number }> {
  const tenantId = tenantNamedBy(ctx.actor, named);
  const params = { ...filter, limit: limit + 1, ...(search && { pattern: containing(search) }) };
  if (tenantId !== null && tenantId !== ctx.tenantId) await requireTenant(ctx, tenantId);
  const read = (values: PageParams): Promise<Row[]> =>
    isSuperAdmin(ctx.actor) && tenantId === null
      ? ctx.runAcrossTenants('a SUPER_ADMIN lists accounts', usersPage(values), values)
      : ctx.inTenant(tenantId ?? ctx.tenantId).run(usersPage(values), values);
  const rows = await read(params);
  // A page beyond the last account has no row that carries the total.
  const [row] =
    rows.length > 0 || filter.after === undefined ? rows : await read({ ...params, after: undefined, limit: 1 });
  const total = row ? row.total : 0;
  // Copying each row without `total` would double the time for the page; the response schema drops `total` anyway.
  const items = rows.slice(0, limit).map((row) => Object.assign(row, { source: sourceOf(row) }));
  return {
    items,
    next: rows.length > limit ? (items.at(-1)?.username ?? null) : null,
    ...(total !== null && { total }),
  };
}

/**
 * With more accounts than this, lists show no total, because counting would take longer than the page. A count kept by triggers would make
 * every change of an account wait for the row of its tenant.
 */
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
    .select({ ...accountColumns, total })
    .from(users)
    .innerJoin(tenants, eq(tenants.id, users.tenantId))
    .where(and(matches(users), given('after') ? sql`${users.username} > ${sql.placeholder('after')}` : undefined))
    .orderBy(asc(users.username))
    .limit(sql.placeholder('limit'));
});

/** Reads an account that the actor may administer; throws 404 for any other. */
export const getUser = (ctx: UserContext, userId: string): Promise<User> =>
  administer(ctx, async (tx) => toUser(await accountFor(tx, userId)));

export interface NewUser {
  username: string;
  email?: string | null | undefined;
  displayName?: string | null | undefined;
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
  password?: string | undefined;
  role: Role;
  isActive: boolean;
  mustChangePassword?: boolean | undefined;
  tenantId?: string | undefined;
  sendWelcomeMail?: boolean | undefined;
}

/**
 * Creates a local account. Without a password it cannot sign in until its user follows a set-password link, as in the welcome mail.
 * Throws 403 `ROLE_NOT_ALLOWED`, 400 `PASSWORD_POLICY`, 409 `USERNAME_TAKEN` or `EMAIL_TAKEN`, 404 for an unknown tenant.
 */
export async function createUser(ctx: UserContext, input: NewUser): Promise<User> {
  const tenantId = tenantNamedBy(ctx.actor, input.tenantId) ?? ctx.tenantId;
  checkMayAssign(ctx.actor, input.role);
  const email = input.email ?? null;
  if (input.sendWelcomeMail && email === null) throw invalidField('email', 'must be given for a welcome mail');
  if (input.password !== undefined)
    checkNewPassword(input.password, { username: input.username, email }, await loadCommonPasswords());
  if (tenantId !== ctx.tenantId) await requireTenant(ctx, tenantId);
  const passwordHash = input.password === undefined ? null : await passwordHashing(ctx).hash(input.password);
  const mustChangePassword = input.mustChangePassword ?? passwordHash !== null;
  const id = newId();
  const user = await administer(ctx, async (tx) => {
    await tx.insert(users).values({
      id,
      tenantId,
      username: input.username,
      email,
      displayName: input.displayName ?? null,
      firstName: input.firstName ?? null,
      lastName: input.lastName ?? null,
      passwordHash,
      role: input.role,
      isActive: input.isActive,
      lastSeenReleaseVersion: firstSeenRelease(ctx.config.release.version),
      mustChangePassword,
      temporaryPasswordUntil: passwordHash !== null && mustChangePassword ? temporaryPasswordUntil : null,
    });
    await recordAudit(tx, ctx, {
      action: 'users.create',
      tenantId,
      target: { type: 'user', id },
      summary: `Created the account ${input.username} with the role ${input.role}.`,
    });
    if (input.sendWelcomeMail) await queueWelcomeMail(tx, { id, tenantId });
    return toUser(await accountFor(tx, id));
  });
  if (input.sendWelcomeMail) void nudgeMails(ctx, tenantId);
  return user;
}

/**
 * Deletes an account and its personal data. Throws 403 for the caller's own account and if an ADMIN acts on a SUPER_ADMIN,
 * 409 `LAST_SUPER_ADMIN`.
 */
export async function deleteUser(ctx: UserContext, userId: string): Promise<void> {
  const avatarPath = await administer(ctx, async (tx) => {
    const account = await accountFor(tx, userId, 'update');
    checkMayAdminister(ctx.actor, account);
    if (userId === ctx.actor.id) throw forbidden('FORBIDDEN', 'You may not delete your own account.');
    const [deleted] = await tx.delete(users).where(eq(users.id, userId)).returning({ avatarPath: users.avatarPath });
    if (account.role === 'SUPER_ADMIN' && account.isActive) await checkSuperAdminRemains(tx);
    await recordAudit(tx, ctx, {
      action: 'users.delete',
      tenantId: account.tenantId,
      target: { type: 'user', id: userId },
      summary: `Deleted the account ${account.username}.`,
    });
    return deleted?.avatarPath ?? null;
  });
  if (avatarPath !== null) await ctx.files.remove(avatarPath);
}

/** Whether the tenant has an active account. */
export async function hasActiveAccount(tx: Tx, tenantId: string): Promise<boolean> {
  const active = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.tenantId, tenantId), eq(users.isActive, true)))
    .limit(1);
  return active.length > 0;
}

/** Deletes up to `max` inactive accounts of a tenant that is being deleted. Returns how many it deleted. */
export async function deleteInactiveAccounts(tx: Tx, tenantId: string, max: number): Promise<number> {
  const some = tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.tenantId, tenantId), eq(users.isActive, false)))
    .limit(max)
    .for('update');
  const { rowCount } = await tx.delete(users).where(inArray(users.id, some));
  return rowCount ?? 0;
}

/** Deletes every account of a tenant that is being deleted. */
export async function deleteAccountsOf(tx: Tx, tenantId: string): Promise<{ wasAnyActive: boolean }> {
  const accounts = await tx.delete(users).where(eq(users.tenantId, tenantId)).returning({ isActive: users.isActive });
  return { wasAnyActive: accounts.some(({ isActive }) => isActive) };
}
