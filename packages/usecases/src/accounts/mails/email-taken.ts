import { z } from 'zod';
import { mailTime } from '@portal/mail/mail-time';
import { emailTaken as template } from '@portal/mail/templates/accounts/email-taken';
import { defineMail } from '@portal/platform/outbox/mail';

const Data = z.object({ language: z.enum(['de', 'en']).default('de'), address: z.string() });

/** Not sent once the account has another address. */
export const emailTakenMail = defineMail({
  kind: 'accounts/email-taken',
  template,
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
});
