import { z } from 'zod';
import { mailTime } from '@portal/mail/mail-time';
import type { Preparation } from '@portal/platform/outbox/preparation';

const Data = z.object({ language: z.enum(['de', 'en']).default('de') });

export const passwordChanged: Preparation<'accounts/password-changed', typeof Data> = {
  data: Data,
  isAwaited: true,
  async prepare(_ctx, { createdAt, recipient }, { language }) {
    return {
      language,
      tenantName: recipient.tenantName,
      displayName: recipient.displayName,
      username: recipient.username,
      changedAt: mailTime(createdAt, language),
    };
  },
};
