import { users } from '@portal/db/schema/accounts/users';
import type { Role } from '@portal/domain/access';
import { checkMayAssign, checkNewPassword, tenantNamedBy, type User } from '@portal/domain/accounts/accounts';
import { invalidField } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { firstSeenRelease } from '@portal/domain/releases/releases';
import type { UserContext } from '@portal/platform/context';
import { nudgeMails } from '@portal/platform/outbox/queue-mail';
import { requireTenant } from '@portal/platform/require-tenant';
import { toUser } from './account-columns.ts';
import { accountFor, administer } from './administer.ts';
import { recordAudit } from './audit.ts';
import { loadCommonPasswords } from './common-passwords.ts';
import { passwordHashing } from './password-hashing.ts';
import { temporaryPasswordUntil } from './passwords.ts';
import { queueWelcomeMail } from './send-welcome-mail.ts';

export interface NewUser {
  username: string;
  email?: string | null | undefined;
  displayName?: string | null | undefined;
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
  password?: string | undefined;
  role: Role;
  isActive: boolean;
  mustChangePassword?: boolean | undefined;
  tenantId?: string | undefined;
  sendWelcomeMail?: boolean | undefined;
}

/**
 * Creates a local account. Without a password it cannot sign in until a set-password link was used, which the welcome mail brings.
 * Throws 403 `ROLE_NOT_ALLOWED`, 400 `PASSWORD_POLICY`, 409 `USERNAME_TAKEN` or `EMAIL_TAKEN`, 404 for an unknown tenant.
 */
export async function createUser(ctx: UserContext, input: NewUser): Promise<User> {
  const tenantId = tenantNamedBy(ctx.actor, input.tenantId) ?? ctx.tenantId;
  checkMayAssign(ctx.actor, input.role);
  const email = input.email ?? null;
  if (input.sendWelcomeMail && email === null) throw invalidField('email', 'must be given for a welcome mail');
  if (input.password !== undefined)
    checkNewPassword(input.password, { username: input.username, email }, await loadCommonPasswords());
  if (tenantId !== ctx.tenantId) await requireTenant(ctx, tenantId);
  const passwordHash = input.password === undefined ? null : await passwordHashing(ctx).hash(input.password);
  const mustChangePassword = input.mustChangePassword ?? passwordHash !== null;
  const id = newId();
  const user = await administer(ctx, async (tx) => {
    await tx.insert(users).values({
      id,
      tenantId,
      username: input.username,
      email,
      displayName: input.displayName ?? null,
      firstName: input.firstName ?? null,
      lastName: input.lastName ?? null,
      passwordHash,
      role: input.role,
      isActive: input.isActive,
      lastSeenReleaseVersion: firstSeenRelease(ctx.config.release.version),
      mustChangePassword,
      temporaryPasswordUntil: passwordHash !== null && mustChangePassword ? temporaryPasswordUntil : null,
    });
    await recordAudit(tx, ctx, {
      action: 'users.create',
      tenantId,
      target: { type: 'user', id },
      summary: `Created the account ${input.username} with the role ${input.role}.`,
    });
    if (input.sendWelcomeMail) await queueWelcomeMail(tx, { id, tenantId });
    return toUser(await accountFor(tx, id));
  });
  if (input.sendWelcomeMail) void nudgeMails(ctx, tenantId);
  return user;
}
