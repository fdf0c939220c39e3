import { accountSamples, link, sender, weekLater } from '../samples.ts';
import { confirmEmail } from './confirm-email.ts';

export const samples = accountSamples(confirmEmail, (account, timeOf) => ({
  ...sender,
  ...account,
  link: link.replace('reset-password', 'confirm-email'),
  validUntil: timeOf(weekLater),
}));
