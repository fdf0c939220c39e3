import { accountSamples, summerDay, tenantName } from '../samples.ts';
import { emailChanged } from './email-changed.ts';

export const samples = accountSamples(emailChanged, (account, timeOf) => ({
  ...account,
  tenantName,
  changedAt: timeOf(summerDay),
}));
