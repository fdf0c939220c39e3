import { z } from 'zod';
import { mailTime } from '@portal/mail/mail-time';
import type { Preparation } from '@portal/platform/outbox/preparation';

const Data = z.object({ language: z.enum(['de', 'en']).default('de'), address: z.string() });

/** Has no sense any more once the account has given the address up. */
export const emailTaken: Preparation<'accounts/email-taken', typeof Data> = {
  data: Data,
  isAwaited: true,
  async prepare(_ctx, { createdAt, recipient }, { language, address }) {
    if (recipient.address !== address) return null;
    return {
      language,
      tenantName: recipient.tenantName,
      displayName: recipient.displayName,
      username: recipient.username,
      requestedAt: mailTime(createdAt, language),
    };
  },
};
