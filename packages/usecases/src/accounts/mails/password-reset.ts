import { z } from 'zod';
import { mailTime } from '@portal/mail/mail-time';
import { passwordReset as template } from '@portal/mail/templates/accounts/password-reset';
import { defineMail } from '@portal/platform/outbox/mail';
import { issueLink, passwordLink } from '../links.ts';

const Data = z.object({ language: z.enum(['de', 'en']).default('de') });

/** Issues a new token for each rendering, so that only the mail holds it in the clear. */
export const passwordResetMail = defineMail({
  kind: 'accounts/password-reset',
  template,
  data: Data,
  isAwaited: true,
  async prepare(ctx, mail, { language }) {
    const { recipient } = mail;
    if (!recipient.isLocal) return null;
    const { token, expiresAt } = await ctx.tx((tx) =>
      issueLink(tx, {
        tenantId: ctx.tenantId,
        userId: recipient.id,
        purpose: 'reset',
        email: recipient.address,
        mailId: mail.id,
        overTenantServer: mail.route === 'tenant',
      }),
    );
    return {
      language,
      tenantName: recipient.tenantName,
      serviceUrl: ctx.config.http.publicUrl,
      displayName: recipient.displayName,
      username: recipient.username,
      link: passwordLink(ctx.config.http.publicUrl, token),
      validUntil: mailTime(expiresAt, language),
    };
  },
});
