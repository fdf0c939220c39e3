import { z } from 'zod';
import { mailTime } from '@portal/mail/mail-time';
import type { Preparation } from '@portal/platform/outbox/preparation';
import { confirmLink, issueEmailLink } from '../email-links.ts';

const Data = z.object({ language: z.enum(['de', 'en']).default('de'), address: z.string() });

/** The link's token is made here, for this very rendering, and only while the account still waits for this address. */
export const confirmEmail: Preparation<'accounts/confirm-email', typeof Data> = {
  data: Data,
  isAwaited: true,
  addressOf: ({ address }) => address,
  async prepare(ctx, { id, recipient }, { language, address }) {
    const link = await ctx.tx((tx) =>
      issueEmailLink(tx, { tenantId: ctx.tenantId, userId: recipient.userId, email: address, mailId: id }),
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
};
