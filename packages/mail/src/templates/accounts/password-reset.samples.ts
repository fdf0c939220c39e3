import { accountSamples, link, sender, weekLater } from '../samples.ts';
import { passwordReset } from './password-reset.ts';

export const samples = accountSamples(passwordReset, (account, timeOf) => ({
  ...sender,
  ...account,
  link,
  validUntil: timeOf(weekLater),
}));
