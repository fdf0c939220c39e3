import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { sessions } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { checkMayAdminister } from '@portal/domain/accounts/accounts';
import { notFound } from '@portal/domain/errors';
import type { SystemContext, UserContext } from '@portal/platform/context';
import { accountFor, administer } from './administer.ts';
import { recordAudit } from './audit.ts';
import { sessionTokens } from './session-token.ts';

const isOpen = and(isNull(sessions.revokedAt), sql`${sessions.expiresAt} > now()`);

/** The caller's open sessions, newest first. */
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

/** Ends one of the caller's sessions; the current one too. */
export async function endSession(ctx: UserContext, sessionId: string): Promise<void> {
  const ended = await ctx.tx((tx) => revoke(tx, and(eq(sessions.id, sessionId), eq(sessions.userId, ctx.actor.id))));
  if (ended === 0) throw notFound();
}

/** Ends the session a token names. A token that names none, or none any more, is fine: the caller is signed out either way. */
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
      summary: `${ctx.actor.username} ended all own sessions.`,
    });
  });
}

/** Ends every session of an account the actor may administer. Throws 403 for a SUPER_ADMIN by an ADMIN, 404. */
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
 * Ends every session of an account: raises its session version, so that no token made before is good any more,
 * and marks the rows, so that no list shows them. Answers the new version.
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
