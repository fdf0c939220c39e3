import type { Area } from '@portal/platform/area';

export const support: Area = {
  name: 'support',
  tags: { support: 'Bug reports to a tenant’s support.' },
};
