import { accountSamples, summerDay, tenantName } from '../samples.ts';
import { passwordChanged } from './password-changed.ts';

export const samples = accountSamples(passwordChanged, (account, timeOf) => ({
  ...account,
  tenantName,
  changedAt: timeOf(summerDay),
}));
