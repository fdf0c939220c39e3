import { auditLog } from '@portal/platform/audit';

export const { auditActions, auditParams, recordAudit } = auditLog(
  'tenants.create',
  'tenants.update',
  'tenants.delete',
);
