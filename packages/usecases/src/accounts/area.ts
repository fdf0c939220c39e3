import { or, sql } from 'drizzle-orm';
import { emailTokens, passwordTokens, sessions } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import type { Area } from '@portal/platform/area';
import { auditActions } from './audit.ts';
import { confirmEmailMail } from './mails/confirm-email.ts';
import { emailChangeRequestedMail } from './mails/email-change-requested.ts';
import { emailChangedMail } from './mails/email-changed.ts';
import { emailTakenMail } from './mails/email-taken.ts';
import { passwordChangedMail } from './mails/password-changed.ts';
import { passwordResetMail } from './mails/password-reset.ts';
import { welcomeMail } from './mails/welcome.ts';

export const accounts: Area = {
  name: 'accounts',
  tags: {
    accounts: 'Signing in and out, and your own sessions and password.',
    users: 'The accounts that administrators manage.',
  },
  mails: [
    confirmEmailMail,
    emailChangeRequestedMail,
    emailChangedMail,
    emailTakenMail,
    passwordChangedMail,
    passwordResetMail,
    welcomeMail,
  ],
  retention: [
    {
      what: 'password tokens',
      table: passwordTokens,
      isOver: sql`${passwordTokens.expiresAt} <= now()`,
    },
    {
      what: 'email tokens',
      table: emailTokens,
      isOver: sql`${emailTokens.expiresAt} <= now()`,
    },
    {
      what: 'pending addresses',
      table: users,
      // Both conditions, so that the query uses the partial index.
      isOver: sql`${users.pendingEmail} is not null and ${users.pendingEmailUntil} <= now()`,
      emptied: { pendingEmail: null, pendingEmailUntil: null },
    },
    {
      what: 'sessions',
      table: sessions,
      isOver: or(sql`${sessions.expiresAt} <= now()`, sql`${sessions.revokedAt} is not null`),
    },
  ],
  files: [{ folder: 'avatars', table: users, path: users.avatarPath }],
  auditActions,
};
