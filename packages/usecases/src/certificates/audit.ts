import { auditLog } from '@portal/platform/audit';

export const { auditActions, recordAudit } = auditLog('certificates.export_key');
