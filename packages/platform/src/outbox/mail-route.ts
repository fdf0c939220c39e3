import { and, eq, exists, isNull, not, or, type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { smtpConfigs } from '@portal/db/schema/mail-settings';
import { mails } from '@portal/db/schema/platform/mails';
import type { Role } from '@portal/domain/access';
import { ownServerVersion } from './stored-smtp-config.ts';

/** Over which server a mail leaves: the service's own, or the one an administrator of the tenant has set. */
export type MailRoute = 'service' | 'tenant';

/**
 * What an administrator's server carries, that administrator can read: a link into an account that may do more than they may
 * would be theirs. So these accounts are written to over the service's own server only, whatever the mail.
 */
export const needsServiceServer = (role: Role): boolean => role === 'SUPER_ADMIN';

/**
 * Which mails leave this way while the tenant's own server is that of `version` (null: none), as a condition for the statement
 * that takes them: it reads role and settings as they are then. Once the settings have changed, mails leave over none but the new ones.
 */
export function usesRoute(db: Pick<Tx, 'select'>, route: MailRoute, version: string | null): SQL | undefined {
  const toSuperAdmin = exists(
    db
      .select({ one: sql`1` })
      .from(users)
      .where(and(eq(users.tenantId, mails.tenantId), eq(users.id, mails.userId), eq(users.role, 'SUPER_ADMIN'))),
  );
  const stored = sql`(${db.select({ version: ownServerVersion }).from(smtpConfigs)})`;
  return route === 'service' ? or(isNull(stored), toSuperAdmin) : and(sql`${stored} = ${version}`, not(toSuperAdmin));
}
