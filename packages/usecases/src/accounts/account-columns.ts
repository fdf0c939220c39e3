import type { InferSelectModel } from 'drizzle-orm';
import { sql } from 'drizzle-orm';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import type { OwnAccount, Profile, User } from '@portal/domain/accounts/accounts';
import { normalizeBackground } from '@portal/domain/dashboards/background';

/**
 * False for a SUPER_ADMIN whose password a directory would check. A tenant's administrators choose its directory, and it may accept
 * any password. The portal creates no such accounts; old ones need an operator (`operatorResetPassword`).
 */
export const isTrustworthy = sql<boolean>`(${users.role} <> 'SUPER_ADMIN' or ${users.ldapDn} is null or ${users.passwordHash} is not null)`;

/** True if the account has a temporary password that its user has not changed in time. It no longer works. */
export const isTemporaryPasswordExpired = sql<boolean>`(${users.mustChangePassword} and coalesce(${users.temporaryPasswordUntil} <= now(), false))`;

/** Columns that the user and administrators see. */
const columns = {
  id: users.id,
  tenantId: users.tenantId,
  tenantName: tenants.name,
  username: users.username,
  email: users.email,
  displayName: users.displayName,
  firstName: users.firstName,
  lastName: users.lastName,
  role: users.role,
  isLocalUser: sql<boolean>`${users.ldapDn} is null`,
  hasAvatar: sql<boolean>`${users.avatarPath} is not null`,
  accentColor: users.accentColor,
  mustChangePassword: users.mustChangePassword,
  lastLoginAt: users.lastLoginAt,
  lastSeenReleaseVersion: users.lastSeenReleaseVersion,
};

/** Columns that the user sees. Every request reads them, so each further column slows all requests. */
export const ownColumns = {
  ...columns,
  language: users.language,
  theme: users.theme,
  dashboardBackground: users.dashboardBackground,
  pendingEmail: sql<string | null>`case when ${users.pendingEmailUntil} > now() then ${users.pendingEmail} end`,
};

/** Columns that administrators see. */
export const accountColumns = {
  ...columns,
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

/** An account as `accountColumns` reads it. */
export type Account = Read<typeof accountColumns>;

export const toProfile = (account: OwnAccount): Profile => ({
  ...account,
  dashboardBackground: normalizeBackground(account.dashboardBackground),
});

export const sourceOf = ({ isLocalUser }: Account): User['source'] => (isLocalUser ? 'local' : 'directory');

export const toUser = (account: Account): User => ({ ...account, source: sourceOf(account) });
