import { z } from 'zod';
import { mailTime } from '@portal/mail/mail-time';
import { emailChangeRequested as template } from '@portal/mail/templates/accounts/email-change-requested';
import { defineMail } from '@portal/platform/outbox/mail';

const Data = z.object({ language: z.enum(['de', 'en']).default('de'), address: z.string() });

/** Goes to the old address, whatever the account's is by then. */
export const emailChangeRequestedMail = defineMail({
  kind: 'accounts/email-change-requested',
  template,
  data: Data,
  isAwaited: true,
  addressOf: ({ address }) => address,
  async prepare(_ctx, { createdAt, recipient }, { language }) {
    return {
      language,
      tenantName: recipient.tenantName,
      username: recipient.username,
      requestedAt: mailTime(createdAt, language),
    };
  },
});
