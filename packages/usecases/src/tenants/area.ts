import type { Area } from '@portal/platform/area';
import { auditActions } from './audit.ts';

export const tenants: Area = {
  name: 'tenants',
  tags: { tenants: 'The organizations that share the service; a SUPER_ADMIN manages them.' },
  auditActions,
};
