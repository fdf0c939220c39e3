import { and, eq, exists, isNull, not, or, type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { smtpConfigs } from '@portal/db/schema/mail-settings';
import { mails } from '@portal/db/schema/platform/mails';
import type { Role } from '@portal/domain/access';
import { ownServerVersion } from './stored-smtp-config.ts';

/** The server that a mail is sent over: the service's, or the one that the tenant's administrator configured. */
export type MailRoute = 'service' | 'tenant';

/**
 * A tenant's administrator can read all mails on the tenant's server, so a link into a more powerful account would let them take it over.
 * Mails to such accounts therefore always use the service's server.
 */
export const needsServiceServer = (role: Role): boolean => role === 'SUPER_ADMIN';

/**
 * Condition for mails of this route while the tenant's own server has this `version` (null: no own server). The claiming statement contains
 * it, so it sees the current role and settings: once the settings have changed, mails only use the new ones.
 */
export function usesRoute(db: Pick<Tx, 'select'>, route: MailRoute, version: string | null): SQL | undefined {
  const toSuperAdmin = exists(
    db
      .select({ one: sql`1` })
      .from(users)
      .where(and(eq(users.tenantId, mails.tenantId), eq(users.id, mails.userId), eq(users.role, 'SUPER_ADMIN'))),
  );
  const storedVersion = sql`(${db.select({ version: ownServerVersion }).from(smtpConfigs)})`;
  return route === 'service'
    ? or(isNull(storedVersion), toSuperAdmin)
    : and(sql`${storedVersion} = ${version}`, not(toSuperAdmin));
}
