import { accountSamples, summerDay, tenantName } from '../samples.ts';
import { emailChangeRequested } from './email-change-requested.ts';

export const samples = accountSamples(emailChangeRequested, (account, timeOf) => ({
  ...account,
  tenantName,
  requestedAt: timeOf(summerDay),
}));
