import { and, Column, eq, is, isNull, type SQLWrapper, sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { sessions } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { unauthenticated } from '@portal/domain/errors';
import type { UserContext, SystemContext } from '@portal/platform/context';
import { isTrustworthy, ownColumns } from './account-columns.ts';
import { sessionTokens } from './session-token.ts';

/** Turns columns into expressions, because the query builder accepts columns only from tables it joins, not from a function's rows. */
const asExpressions = <Columns extends Record<string, SQLWrapper>>(columns: Columns) =>
  Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [
      name,
      is(column, Column) ? sql`${column}`.mapWith(column) : column,
    ]),
  ) as unknown as Columns;

// The one query of every authenticated request. Only the token names the tenant, so the query checks session, account and tenant
// together, before any scope is open.
const accountOfSession = prepared<{ tenantId: string; sessionId: string; userId: string; version: number }>()(
  'account_of_session',
  (db) =>
    db
      .select({
        ...asExpressions(ownColumns),
        isStale: sql<boolean>`${sessions.lastSeenAt} < now() - interval '1 minute'`.as('is_stale'),
      })
      .from(
        sql`portal_signed_in(${sql.placeholder('tenantId')}, ${sql.placeholder('sessionId')}, ${sql.placeholder('userId')}) as found`,
      )
      .crossJoinLateral(sql`(select (found.session).*) as ${sessions}`)
      .crossJoinLateral(sql`(select (found.account).*) as ${users}`)
      .crossJoinLateral(sql`(select (found.tenant).*) as ${tenants}`)
      .where(
        and(
          eq(users.sessionVersion, sql.placeholder('version')),
          isNull(sessions.revokedAt),
          sql`${sessions.expiresAt} > now()`,
          eq(users.isActive, true),
          isTrustworthy,
          eq(tenants.isActive, true),
        ),
      ),
);

/** Sessions whose `lastSeenAt` this process is writing right now. */
const beingTouched = new Set<string>();

/**
 * Turns a session token into the context of its account. Reads role, active flags and forced password change from the database, so
 * they are current. Throws 401 if the token is missing, forged or expired, or its session has ended.
 */
export async function authenticate(system: SystemContext, token: string | undefined): Promise<UserContext> {
  const claims = token === undefined ? null : sessionTokens(system).read(token);
  if (!claims) throw unauthenticated();
  const { tid: tenantId, sid: sessionId, sub: userId, ver: version } = claims;
  const [row] = await system.runInNoTenant(accountOfSession, { tenantId, sessionId, userId, version });
  if (!row) throw unauthenticated();
  const { isStale, ...account } = row;
  const ctx: UserContext = { ...system, ...system.inTenant(tenantId), actor: account, account, sessionId };
  if (isStale) touchSession(ctx);
  return ctx;
}

/** Updates `lastSeenAt` at most once a minute, without delaying the request. */
function touchSession(ctx: UserContext): void {
  const { sessionId } = ctx;
  if (beingTouched.has(sessionId)) return;
  beingTouched.add(sessionId);
  ctx
    .tx((tx) =>
      tx
        .update(sessions)
        .set({ lastSeenAt: sql`now()` })
        .where(and(eq(sessions.id, sessionId), sql`${sessions.lastSeenAt} < now() - interval '1 minute'`)),
    )
    .catch((error: unknown) =>
      ctx.log.warn({ err: error, requestId: ctx.requestId }, 'could not update the last-seen time of a session'),
    )
    .finally(() => beingTouched.delete(sessionId));
}
