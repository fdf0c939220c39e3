import { emailChanged as template } from '@portal/mail/templates/accounts/email-changed';
import { defineMail } from '@portal/platform/outbox/mail';
import { factsOf, toOldAddress } from './to-old-address.ts';

export const emailChangedMail = defineMail({
  kind: 'accounts/email-changed',
  template,
  ...toOldAddress,
  async prepare(_ctx, mail, { language }) {
    const { at, ...facts } = factsOf(mail, language);
    return { ...facts, changedAt: at };
  },
});
