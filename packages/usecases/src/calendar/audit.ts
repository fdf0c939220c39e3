import { auditLog } from '@portal/platform/audit';

export const { auditActions, recordAudit } = auditLog('calendar_sources.test');
