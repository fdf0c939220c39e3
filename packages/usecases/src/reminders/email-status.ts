import type { UserContext } from '@portal/platform/context';
import { smtpSettingsOf } from '@portal/platform/outbox/smtp-settings-of';

export interface EmailStatus {
  available: boolean;
  reason: 'NO_ADDRESS' | 'MAIL_NOT_CONFIGURED' | null;
}

/** Whether the portal can mail the caller about due reminders. */
export async function reminderEmailStatus(ctx: UserContext): Promise<EmailStatus> {
  if (ctx.account.email === null) return { available: false, reason: 'NO_ADDRESS' };
  if ((await smtpSettingsOf(ctx, ctx.actor.role)) === null) return { available: false, reason: 'MAIL_NOT_CONFIGURED' };
  return { available: true, reason: null };
}
