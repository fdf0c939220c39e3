import type { z } from 'zod';
import { confirmEmail } from '@portal/usecases/accounts/mails/confirm-email';
import { emailChangeRequested } from '@portal/usecases/accounts/mails/email-change-requested';
import { emailChanged } from '@portal/usecases/accounts/mails/email-changed';
import { emailTaken } from '@portal/usecases/accounts/mails/email-taken';
import { passwordChanged } from '@portal/usecases/accounts/mails/password-changed';
import { passwordReset } from '@portal/usecases/accounts/mails/password-reset';
import { welcome } from '@portal/usecases/accounts/mails/welcome';
import { reminderDue } from '@portal/usecases/reminders/mails/due';

/** Every kind of mail that goes through the outbox. */
export const outboxKinds = {
  'accounts/confirm-email': confirmEmail,
  'accounts/email-change-requested': emailChangeRequested,
  'accounts/email-changed': emailChanged,
  'accounts/email-taken': emailTaken,
  'accounts/password-changed': passwordChanged,
  'accounts/password-reset': passwordReset,
  'accounts/welcome': welcome,
  'reminders/due': reminderDue,
};

export type OutboxKind = keyof typeof outboxKinds;
export type OutboxData<Kind extends OutboxKind> = z.input<(typeof outboxKinds)[Kind]['data']>;

/** How mails of this kind share a tenant's day; one that this release does not know comes last. */
export const roomOf = (kind: string): { isAwaited: boolean; maxADay?: number } =>
  Object.hasOwn(outboxKinds, kind) ? outboxKinds[kind as OutboxKind] : { isAwaited: false };

/** Five tries within about an hour, for kinds that name no pauses of their own. */
export const usualRetryAfterSec = [30, 120, 600, 2_700];
