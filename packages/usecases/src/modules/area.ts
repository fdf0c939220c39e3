import type { Area } from '@portal/platform/area';
import { auditActions } from './audit.ts';

export const modules: Area = {
  name: 'modules',
  tags: {
    groups: 'Groups of accounts: a tenant’s own groups and those of its directory.',
    modules: 'Which modules a tenant has, who may open them, and how its sidebar is arranged.',
  },
  auditActions,
};
