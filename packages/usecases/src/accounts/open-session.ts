import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { type RowOf, valuesOf } from '@portal/db/row-of';
import { sessions } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { auditOf, type AuditParams } from '@portal/platform/audit';
import type { SystemContext } from '@portal/platform/context';
import { type AllLimits, clearedFirst, remainingOfAll } from '@portal/platform/rate-limit';
import { isTrustworthy } from './account-columns.ts';
import { sessionSeconds } from './session-token.ts';

interface SessionParams extends Record<string, unknown> {
  sessionId: string;
  tenantId: string;
  userId: string;
  ip: string | null;
  userAgent: string | null;
}

export const sessionParams = (
  system: SystemContext,
  { id, tenantId, userId }: { id: string; tenantId: string; userId: string },
): SessionParams => ({
  sessionId: id,
  tenantId,
  userId,
  ip: system.ip,
  userAgent: system.userAgent?.slice(0, 500) ?? null,
});

const session = {
  id: sql<string>`${sql.placeholder('sessionId')}::uuid`,
  tenantId: sql<string>`${sql.placeholder('tenantId')}::uuid`,
  userId: sql<string>`${sql.placeholder('userId')}::uuid`,
  createdAt: sql<Date>`now()`,
  lastSeenAt: sql<Date>`now()`,
  expiresAt: sql<Date>`now() + make_interval(secs => ${sql.raw(String(sessionSeconds))})`,
  revokedAt: sql<Date>`null::timestamptz`,
  ip: sql<string>`${sql.placeholder('ip')}::text`,
  userAgent: sql<string>`${sql.placeholder('userAgent')}::text`,
} satisfies RowOf<typeof sessions>;

const openSession = prepared<SessionParams>()('session_open', (db) =>
  db.insert(sessions).values(session).returning({ id: sessions.id }),
);

/** Opens a session for an account; its token is issued after the transaction. */
export const insertSession = (tx: Tx, system: SystemContext, of: { id: string; tenantId: string; userId: string }) =>
  tx.run(openSession, sessionParams(system, of));

/**
 * All that a sign-in writes, in one statement: each one more costs server and client more than its work. Unless there is room for
 * another failure and the account is still the one that was checked (not deleted, switched off, moved, appointed or given another
 * password or DN meanwhile), no row comes back and nothing is written.
 */
export const openCheckedSession = prepared<
  AllLimits &
    AuditParams &
    SessionParams & {
      passwordHash: string | null;
      ldapDn: string | null;
      newHash: string | null;
      replacedSession: string | null;
      replacedUser: string | null;
    }
>()('sign_in_open', (db) => {
  const remaining = db.$with('remaining').as(remainingOfAll(db));
  const marked = db.$with('marked').as(
    db
      .update(users)
      .set({ lastLoginAt: sql`now()`, passwordHash: sql`${sql.placeholder('newHash')}` })
      .where(
        and(
          eq(users.id, sql.placeholder('userId')),
          eq(users.isActive, true),
          isTrustworthy,
          sql`${users.passwordHash} is not distinct from ${sql.placeholder('passwordHash')}`,
          sql`${users.ldapDn} is not distinct from ${sql.placeholder('ldapDn')}`,
          sql`(select coalesce(${remaining.waitSec}, ${remaining.thirdWaitSec}) from ${remaining}) is null`,
        ),
      )
      .returning({ lastLoginAt: users.lastLoginAt, sessionVersion: users.sessionVersion }),
  );
  const opened = db.$with('opened').as(
    db
      .insert(sessions)
      .select(sql`select ${valuesOf(sessions, session)} from ${marked}`)
      .returning({ id: sessions.id }),
  );
  const replaced = db.$with('replaced').as(
    db
      .update(sessions)
      .set({ revokedAt: sql`now()` })
      .where(
        and(
          eq(sessions.id, sql.placeholder('replacedSession')),
          eq(sessions.userId, sql.placeholder('replacedUser')),
          isNull(sessions.revokedAt),
          sql`exists (select from ${marked})`,
        ),
      )
      .returning({ id: sessions.id }),
  );
  const cleared = db.$with('cleared').as(clearedFirst(db, marked));
  const audited = db.$with('audited').as(auditOf(db, marked));
  return db.with(remaining, marked, opened, replaced, cleared, audited).select().from(marked);
});
