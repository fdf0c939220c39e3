import type { InferSelectModel } from 'drizzle-orm';
import { sql } from 'drizzle-orm';
import { tenants } from '@portal/db/schema/tenants';
import { users } from '@portal/db/schema/users';
import type { Profile, User } from '@portal/domain/accounts';
import { normalizeBackground } from '@portal/domain/dashboard-background';

/**
 * False for a SUPER_ADMIN whose password a directory would check: administrators of a tenant choose its directory, which may take any
 * password. No such account is made; rows from before wait for an operator (`operatorResetPassword`).
 */
export const isTrustworthy = sql<boolean>`(${users.role} <> 'SUPER_ADMIN' or ${users.ldapDn} is null or ${users.passwordHash} is not null)`;

/** What an account sees of itself, read with every request: no more columns than that, each costs every call. */
export const ownColumns = {
  id: users.id,
  tenantId: users.tenantId,
  tenantName: tenants.name,
  username: users.username,
  email: users.email,
  displayName: users.displayName,
  firstName: users.firstName,
  lastName: users.lastName,
  role: users.role,
  isLocalUser: sql<boolean>`${users.ldapDn} is null`.as('is_local_user'),
  hasAvatar: sql<boolean>`${users.avatarPath} is not null`.as('has_avatar'),
  accentColor: users.accentColor,
  dashboardBackground: users.dashboardBackground,
  mustChangePassword: users.mustChangePassword,
  lastLoginAt: users.lastLoginAt,
  lastSeenReleaseVersion: users.lastSeenReleaseVersion,
};

/** What administrators see besides. */
export const accountColumns = {
  ...ownColumns,
  isActive: users.isActive,
  welcomeMailSentAt: users.welcomeMailSentAt,
  createdAt: users.createdAt,
  updatedAt: users.updatedAt,
};

type Read<Columns extends object> = Pick<
  InferSelectModel<typeof users>,
  Extract<keyof Columns, keyof typeof users.$inferSelect>
> & {
  tenantName: string;
  isLocalUser: boolean;
  hasAvatar: boolean;
};

/** An account as `ownColumns` reads it. */
export type OwnAccount = Read<typeof ownColumns>;
/** An account as `accountColumns` reads it. */
export type Account = Read<typeof accountColumns>;

export const toProfile = (account: OwnAccount): Profile => ({
  ...account,
  dashboardBackground: normalizeBackground(account.dashboardBackground),
});

export const toUser = (account: Account): User => ({ ...account, source: account.isLocalUser ? 'local' : 'directory' });
