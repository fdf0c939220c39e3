import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { checkNewPassword } from '@portal/domain/accounts/accounts';
import { conflict, invalid } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { nudgeMails } from '@portal/platform/outbox/queue-mail';
import { recordAudit } from './audit.ts';
import { queueChangeNotice } from './change-notices.ts';
import { loadCommonPasswords } from './common-passwords.ts';
import { checkCurrentPassword, holdChecked } from './current-password.ts';
import { endLinksOf } from './links.ts';
import { passwordHashing } from './password-hashing.ts';
import { sessionTokens } from './session-token.ts';
import { endSessionsOf, insertSession } from './sessions.ts';

/**
 * Changes the caller's password after checking the current one. Every other session ends; the caller goes on
 * under the token this answers. Throws 400 `PASSWORD_POLICY`, 401 `CURRENT_PASSWORD_WRONG`, 409 `DIRECTORY_ACCOUNT`, 429.
 */
export async function changePassword(
  ctx: UserContext,
  input: { currentPassword: string; newPassword: string },
): Promise<{ token: string }> {
  const { actor, account } = ctx;
  if (!account.isLocalUser) {
    throw conflict('DIRECTORY_ACCOUNT', 'This account signs in with the directory. Please change the password there.');
  }
  // Policy first: what it refuses is no guess and costs no hash.
  checkNewPassword(input.newPassword, account, await loadCommonPasswords());
  if (account.mustChangePassword && input.newPassword === input.currentPassword) throw unchangedPassword();
  const checked = await checkCurrentPassword(ctx, input.currentPassword);
  const hash = await passwordHashing(ctx).hash(input.newPassword);

  const sessionId = newId();
  const version = await ctx.tx(async (tx) => {
    await holdChecked(tx, ctx, checked);
    const raised = await setPassword(tx, actor.id, { hash, mustChange: false });
    await Promise.all([
      insertSession(tx, ctx, { id: sessionId, tenantId: ctx.tenantId, userId: actor.id }),
      queueChangeNotice(tx, account),
      recordAudit(tx, ctx, {
        action: 'auth.password_changed',
        tenantId: ctx.tenantId,
        target: { type: 'user', id: actor.id },
        summary: `${actor.username} changed the own password.`,
      }),
    ]);
    return raised;
  });
  void nudgeMails(ctx, ctx.tenantId);
  return { token: sessionTokens(ctx).issue({ sub: actor.id, tid: ctx.tenantId, sid: sessionId, ver: version }) };
}

/** Whoever must change a password that somebody else knows has to choose another one. */
export const unchangedPassword = () =>
  invalid('PASSWORD_POLICY', 'The new password must differ from the one that has to be changed.');

/** Until when a password that somebody else chose, and that must be changed, is a way in (contract section 3). */
export const temporaryPasswordUntil = sql<Date>`now() + interval '7 days'`;

/**
 * Gives an account a new password: every session ends and every open link dies, one to a pending address too, so that whoever
 * finds a stranger's change under way ends it by choosing another password. One that must be changed is good for seven days.
 * Answers the session version a fresh token must carry. The caller has checked the policy and hashed outside the transaction.
 */
export async function setPassword(
  tx: Tx,
  userId: string,
  password: { hash: string; mustChange: boolean },
): Promise<number> {
  const [version] = await Promise.all([
    endSessionsOf(tx, userId),
    tx
      .update(users)
      .set({
        passwordHash: password.hash,
        mustChangePassword: password.mustChange,
        temporaryPasswordUntil: password.mustChange ? temporaryPasswordUntil : null,
        updatedAt: sql`now()`,
      })
      .where(eq(users.id, userId)),
    endLinksOf(tx, userId),
  ]);
  return version;
}
