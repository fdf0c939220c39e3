import type { Area } from '@portal/platform/area';
import { auditActions } from './audit.ts';

export const modules: Area = {
  name: 'modules',
  tags: {
    groups: 'Groups of accounts: a tenant’s own groups and those of its directory.',
    modules: 'A tenant’s modules, the access to them, and the order of its sidebar.',
  },
  auditActions,
};
