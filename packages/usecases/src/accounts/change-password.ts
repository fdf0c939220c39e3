import { and, eq } from 'drizzle-orm';
import { users } from '@portal/db/schema/users';
import { checkNewPassword } from '@portal/domain/accounts';
import { busy, conflict, unauthenticated } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { recordAudit } from '../audit/record-audit.ts';
import { nudgeMails } from '../mails/queue-mail.ts';
import type { Ctx } from '../run/context.ts';
import { clearHits, type RateLimit, secondsUntilRoom, takeHit } from '../run/rate-limit.ts';
import { isCommonPassword } from './common-passwords.ts';
import { queueChangeNotice } from './queue-change-notice.ts';
import { setPassword } from './set-password.ts';
import { insertSession } from './sign-in.ts';

const wrongPasswords: RateLimit = { name: 'wrong current password', max: 5, windowSec: 10 * 60 };

/**
 * Changes the caller's password after checking the current one. Every other session ends; the caller goes on
 * under the token this answers. Throws 401 `CURRENT_PASSWORD_WRONG`, 400 `PASSWORD_POLICY`, 409 `DIRECTORY_ACCOUNT`, 429.
 */
export async function changePassword(
  ctx: Ctx,
  input: { currentPassword: string; newPassword: string },
): Promise<{ token: string }> {
  const { actor, account } = ctx;
  if (!account.isLocalUser) {
    throw conflict('DIRECTORY_ACCOUNT', 'This account signs in with the directory. Please change the password there.');
  }
  const [[stored], waitSec] = await ctx.tx((tx) =>
    Promise.all([
      tx.select({ hash: users.passwordHash }).from(users).where(eq(users.id, actor.id)),
      secondsUntilRoom(tx, wrongPasswords, actor.id),
    ]),
  );
  if (waitSec !== null) throw tooManyWrong(waitSec);
  if (!(await ctx.passwords.verify(stored?.hash ?? null, input.currentPassword))) {
    const counted = await ctx.tx((tx) => takeHit(tx, wrongPasswords, actor.id));
    if (!counted) throw tooManyWrong(wrongPasswords.windowSec);
    throw unauthenticated('CURRENT_PASSWORD_WRONG', 'The current password is wrong.');
  }
  checkNewPassword(input.newPassword, account, isCommonPassword);
  const hash = await ctx.passwords.hash(input.newPassword);

  const sessionId = newId();
  const version = await ctx.tx(async (tx) => {
    // Locked and compared: of two changes made with the same current password at once, one wins.
    const [current] = await tx
      .select({ id: users.id })
      .from(users)
      .where(and(eq(users.id, actor.id), eq(users.passwordHash, stored?.hash ?? '')))
      .for('update');
    if (!current) throw unauthenticated('CURRENT_PASSWORD_WRONG', 'The current password is wrong.');
    const raised = await setPassword(tx, actor.id, { hash, mustChange: false });
    await Promise.all([
      insertSession(tx, ctx, { id: sessionId, tenantId: ctx.tenantId, userId: actor.id }),
      clearHits(tx, wrongPasswords, actor.id),
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
  return { token: ctx.sessionTokens.issue({ sub: actor.id, tid: ctx.tenantId, sid: sessionId, ver: version }) };
}

const tooManyWrong = (waitSec: number) => busy('Too many wrong passwords. Please wait before you try again.', waitSec);
