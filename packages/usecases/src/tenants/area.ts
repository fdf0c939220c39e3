import type { Area } from '@portal/platform/area';
import { auditActions } from './audit.ts';

export const tenants: Area = {
  name: 'tenants',
  tags: { tenants: 'The organisations that share the service, kept by SUPER_ADMIN.' },
  auditActions,
};
