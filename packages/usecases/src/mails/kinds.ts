import type { z } from 'zod';
import { confirmEmail } from './prepare/confirm-email.ts';
import { emailChangeRequested } from './prepare/email-change-requested.ts';
import { emailChanged } from './prepare/email-changed.ts';
import { emailTaken } from './prepare/email-taken.ts';
import { passwordChanged } from './prepare/password-changed.ts';
import { passwordReset } from './prepare/password-reset.ts';
import { reminderDue } from './prepare/reminder-due.ts';
import { welcome } from './prepare/welcome.ts';

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
