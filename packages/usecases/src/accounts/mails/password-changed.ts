import { z } from 'zod';
import { mailTime } from '@portal/mail/mail-time';
import { passwordChanged as template } from '@portal/mail/templates/accounts/password-changed';
import { defineMail } from '@portal/platform/outbox/mail';

const Data = z.object({ language: z.enum(['de', 'en']).default('de') });

export const passwordChangedMail = defineMail({
  kind: 'accounts/password-changed',
  template,
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
});
