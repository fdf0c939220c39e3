import type { z } from 'zod';
import type { RenderedMail } from './template.ts';
import { confirmEmail } from './templates/accounts/confirm-email.ts';
import { emailChangeRequested } from './templates/accounts/email-change-requested.ts';
import { emailChanged } from './templates/accounts/email-changed.ts';
import { emailTaken } from './templates/accounts/email-taken.ts';
import { passwordChanged } from './templates/accounts/password-changed.ts';
import { passwordReset } from './templates/accounts/password-reset.ts';
import { welcome } from './templates/accounts/welcome.ts';
import { smtpTest } from './templates/mail-settings/smtp-test.ts';
import { reminderDue } from './templates/reminders/due.ts';

/** Every mail the product sends, by the name its outbox row carries: area and file of its template. */
export const mailKinds = {
  'accounts/confirm-email': confirmEmail,
  'accounts/email-change-requested': emailChangeRequested,
  'accounts/email-changed': emailChanged,
  'accounts/email-taken': emailTaken,
  'accounts/password-changed': passwordChanged,
  'accounts/password-reset': passwordReset,
  'accounts/welcome': welcome,
  'mail-settings/smtp-test': smtpTest,
  'reminders/due': reminderDue,
};

export type MailKind = keyof typeof mailKinds;
export type MailData<Kind extends MailKind> = z.input<(typeof mailKinds)[Kind]['data']>;

/** Subject, text and, unless the kind is text alone, HTML. Data that is not the kind's throws a ZodError. */
export const renderMail = <Kind extends MailKind>(kind: Kind, data: MailData<Kind>): RenderedMail =>
  (mailKinds[kind].render as (data: MailData<Kind>) => RenderedMail)(data);
