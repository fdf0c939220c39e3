import type { Area } from '@portal/platform/area';

export const support: Area = {
  name: 'support',
  tags: { support: 'Reports of faults to whoever looks after the portal.' },
};
