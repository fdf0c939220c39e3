import { auditLog } from '@portal/platform/audit';

export const { auditActions, recordAudit } = auditLog(
  'servers.create',
  'servers.update',
  'servers.delete',
  'servers.test',
);
