import { z } from 'zod';
import { mailTime } from '@portal/mail/mail-time';
import { confirmEmail as template } from '@portal/mail/templates/accounts/confirm-email';
import { defineMail } from '@portal/platform/outbox/mail';
import { confirmLink, issueEmailLink } from '../links.ts';

const Data = z.object({ language: z.enum(['de', 'en']).default('de'), address: z.string() });

/** Issues a new token for each rendering, but only while this address is pending. */
export const confirmEmailMail = defineMail({
  kind: 'accounts/confirm-email',
  template,
  data: Data,
  isAwaited: true,
  addressOf: ({ address }) => address,
  async prepare(ctx, { id, recipient }, { language, address }) {
    const link = await ctx.tx((tx) =>
      issueEmailLink(tx, { tenantId: ctx.tenantId, userId: recipient.id, email: address, mailId: id }),
    );
    if (!link) return null;
    return {
      language,
      tenantName: recipient.tenantName,
      serviceUrl: ctx.config.http.publicUrl,
      username: recipient.username,
      link: confirmLink(ctx.config.http.publicUrl, link.token),
      validUntil: mailTime(link.expiresAt, language),
    };
  },
});
