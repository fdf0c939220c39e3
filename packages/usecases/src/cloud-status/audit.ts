import { auditLog } from '@portal/platform/audit';

export const { auditActions, recordAudit } = auditLog(
  'cloud_instances.create',
  'cloud_instances.update',
  'cloud_instances.delete',
);
