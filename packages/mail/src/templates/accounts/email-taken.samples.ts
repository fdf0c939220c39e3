import { accountSamples, summerDay, tenantName } from '../samples.ts';
import { emailTaken } from './email-taken.ts';

export const samples = accountSamples(emailTaken, (account, timeOf) => ({
  ...account,
  tenantName,
  requestedAt: timeOf(summerDay),
}));
