import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { type RowOf, valuesOf } from '@portal/db/row-of';
import { sessions } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { checkMayAdminister } from '@portal/domain/accounts/accounts';
import { notFound } from '@portal/domain/errors';
import { auditOf, type AuditParams } from '@portal/platform/audit';
import type { SystemContext, UserContext } from '@portal/platform/context';
import { type AllLimits, clearedFirst, countedKnown, secondsUntilAllFree } from '@portal/platform/rate-limit';
import { isTrustworthy } from './account-columns.ts';
import { accountFor, administer } from './administer.ts';
import { recordAudit } from './audit.ts';
import { sessionSeconds, sessionTokens } from './session-token.ts';

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

/** Opens a session for an account. The caller issues its token after the transaction. */
export const insertSession = (tx: Tx, system: SystemContext, ids: { id: string; tenantId: string; userId: string }) =>
  tx.run(openSession, sessionParams(system, ids));

/**
 * Writes everything for a sign-in in one statement, because each further statement costs server and client more than its work: hashes
 * empty the CPU caches, and seven statements in five round trips took a seventh of the time of the hash. Writes
 * nothing and returns no row if the failure limit is reached, or if the account has changed since the check (deleted, deactivated,
 * moved, promoted, or given another password or DN).
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
  const remaining = db.$with('remaining').as(secondsUntilAllFree(db));
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
          sql`(select ${remaining.waitSec} from ${remaining}) is null`,
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
  const known = db.$with('known').as(countedKnown(db, marked));
  const audited = db.$with('audited').as(auditOf(db, marked));
  return db.with(remaining, marked, opened, replaced, cleared, known, audited).select().from(marked);
});

const isOpen = and(isNull(sessions.revokedAt), sql`${sessions.expiresAt} > now()`);

/** The caller's open sessions, newest first, at most 200. */
export async function listSessions(ctx: UserContext) {
  const rows = await ctx.read((db) =>
    db
      .select({
        id: sessions.id,
        createdAt: sessions.createdAt,
        lastSeenAt: sessions.lastSeenAt,
        ip: sessions.ip,
        userAgent: sessions.userAgent,
      })
      .from(sessions)
      .where(and(eq(sessions.userId, ctx.actor.id), isOpen))
      .orderBy(desc(sessions.id))
      .limit(200),
  );
  return rows.map((session) => ({ ...session, current: session.id === ctx.sessionId }));
}

/** Ends one of the caller's sessions; it may be the current one. */
export async function endSession(ctx: UserContext, sessionId: string): Promise<void> {
  await ctx.tx(async (tx) => {
    if ((await revoke(tx, and(eq(sessions.id, sessionId), eq(sessions.userId, ctx.actor.id)))) === 0) throw notFound();
    await recordAudit(tx, ctx, {
      action: 'auth.logout',
      tenantId: ctx.tenantId,
      target: { type: 'user', id: ctx.actor.id },
      summary: `${ctx.actor.username} ended one of their own sessions.`,
    });
  });
}

/** Ends the session of a token. Accepts tokens without an open session, because the caller is signed out either way. */
export async function signOut(system: SystemContext, token: string | undefined): Promise<void> {
  const claims = token === undefined ? null : sessionTokens(system).read(token);
  if (!claims) return;
  await system.inTenant(claims.tid).tx(async (tx) => {
    if ((await revoke(tx, and(eq(sessions.id, claims.sid), eq(sessions.userId, claims.sub)))) === 0) return;
    const [account] = await tx
      .select({ id: users.id, username: users.username })
      .from(users)
      .where(eq(users.id, claims.sub));
    if (!account) return;
    await recordAudit(
      tx,
      { actor: account, ip: system.ip },
      {
        action: 'auth.logout',
        tenantId: claims.tid,
        target: { type: 'user', id: account.id },
        summary: `${account.username} signed out.`,
      },
    );
  });
}

/** Ends every session of the caller, the current one included. */
export async function endOwnSessions(ctx: UserContext): Promise<void> {
  await ctx.tx(async (tx) => {
    await endSessionsOf(tx, ctx.actor.id);
    await recordAudit(tx, ctx, {
      action: 'auth.logout_all',
      tenantId: ctx.tenantId,
      target: { type: 'user', id: ctx.actor.id },
      summary: `${ctx.actor.username} ended all their own sessions.`,
    });
  });
}

/** Ends every session of an account that the actor may administer. Throws 403 if an ADMIN acts on a SUPER_ADMIN, 404. */
export async function endUserSessions(ctx: UserContext, userId: string): Promise<void> {
  await administer(ctx, async (tx) => {
    const account = await accountFor(tx, userId, 'update');
    checkMayAdminister(ctx.actor, account);
    await endSessionsOf(tx, userId);
    await recordAudit(tx, ctx, {
      action: 'users.logout_all',
      tenantId: account.tenantId,
      target: { type: 'user', id: userId },
      summary: `Ended all sessions of ${account.username}.`,
    });
  });
}

/**
 * Ends every session of an account: raises its session version, which invalidates all earlier tokens, and revokes the rows, which
 * removes them from lists. Returns the new version.
 */
export async function endSessionsOf(tx: Tx, userId: string): Promise<number> {
  const [[account]] = await Promise.all([
    tx
      .update(users)
      .set({ sessionVersion: sql`${users.sessionVersion} + 1` })
      .where(eq(users.id, userId))
      .returning({ version: users.sessionVersion }),
    revoke(tx, eq(sessions.userId, userId)),
  ]);
  return account?.version ?? 0;
}

const revoke = async (tx: Tx, which: ReturnType<typeof and>): Promise<number> => {
  const ended = await tx
    .update(sessions)
    .set({ revokedAt: sql`now()` })
    .where(and(which, isOpen))
    .returning({ id: sessions.id });
  return ended.length;
};
