import { emailChangeRequested as template } from '@portal/mail/templates/accounts/email-change-requested';
import { defineMail } from '@portal/platform/outbox/mail';
import { factsOf, toOldAddress } from './to-old-address.ts';

export const emailChangeRequestedMail = defineMail({
  kind: 'accounts/email-change-requested',
  template,
  ...toOldAddress,
  async prepare(_ctx, mail, { language }) {
    const { at, ...facts } = factsOf(mail, language);
    return { ...facts, requestedAt: at };
  },
});
