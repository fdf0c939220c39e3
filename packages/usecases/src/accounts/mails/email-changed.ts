import { z } from 'zod';
import { mailTime } from '@portal/mail/mail-time';
import type { Preparation } from '@portal/platform/outbox/preparation';

const Data = z.object({ language: z.enum(['de', 'en']).default('de'), address: z.string() });

/** Goes to the old address, whatever the account's is by then. */
export const emailChanged: Preparation<'accounts/email-changed', typeof Data> = {
  data: Data,
  isAwaited: true,
  addressOf: ({ address }) => address,
  async prepare(_ctx, { createdAt, recipient }, { language }) {
    return {
      language,
      tenantName: recipient.tenantName,
      username: recipient.username,
      changedAt: mailTime(createdAt, language),
    };
  },
};
