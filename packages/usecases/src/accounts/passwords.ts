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
import { checkCurrentPassword, lockCheckedAccount } from './current-password.ts';
import { endLinksOf } from './links.ts';
import { passwordHashing } from './password-hashing.ts';
import { sessionTokens } from './session-token.ts';
import { endSessionsOf, insertSession } from './sessions.ts';

/**
 * Changes the caller's password after checking the current one. Ends every other session; the caller continues with
 * the returned token. Throws 400 `PASSWORD_POLICY`, 401 `CURRENT_PASSWORD_WRONG`, 409 `DIRECTORY_ACCOUNT`, 429.
 */
export async function changePassword(
  ctx: UserContext,
  input: { currentPassword: string; newPassword: string },
): Promise<{ token: string }> {
  const { actor, account } = ctx;
  if (!account.isLocalUser) {
    throw conflict('DIRECTORY_ACCOUNT', 'This account signs in with the directory. Please change the password there.');
  }
  // Policy first: a refused password must not count as a guess or cost a hash.
  checkNewPassword(input.newPassword, account, await loadCommonPasswords());
  if (account.mustChangePassword && input.newPassword === input.currentPassword) throw unchangedPassword();
  const checkedHash = await checkCurrentPassword(ctx, input.currentPassword);
  const hash = await passwordHashing(ctx).hash(input.newPassword);

  const sessionId = newId();
  const version = await ctx.tx(async (tx) => {
    await lockCheckedAccount(tx, ctx, checkedHash);
    const newVersion = await setPassword(tx, actor.id, { hash, mustChange: false });
    await Promise.all([
      insertSession(tx, ctx, { id: sessionId, tenantId: ctx.tenantId, userId: actor.id }),
      queueChangeNotice(tx, account),
      recordAudit(tx, ctx, {
        action: 'auth.password_changed',
        tenantId: ctx.tenantId,
        target: { type: 'user', id: actor.id },
        summary: `${actor.username} changed their own password.`,
      }),
    ]);
    return newVersion;
  });
  void nudgeMails(ctx, ctx.tenantId);
  return { token: sessionTokens(ctx).issue({ sub: actor.id, tid: ctx.tenantId, sid: sessionId, ver: version }) };
}

/** An administrator may know a password that must be changed, so the new one must differ. */
export const unchangedPassword = () => invalid('PASSWORD_POLICY', 'The new password must differ from the current one.');

/** When a temporary password expires. */
export const temporaryPasswordUntil = sql<Date>`now() + interval '7 days'`;

/**
 * Gives an account a new password. Ends every session and invalidates every unused link, including that to a pending address: an owner
 * who notices a stranger's change cancels it by changing the password. With `mustChange` the password expires after seven days.
 * Returns the session version for new tokens. The caller has checked the policy and hashed the password outside the transaction.
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
