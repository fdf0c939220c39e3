import { auditLog } from '@portal/platform/audit';

export const { auditActions, auditParams, recordAudit } = auditLog(
  'smtp_config.update',
  'smtp_config.delete',
  'smtp_config.test',
  'welcome_mail.update',
  'welcome_mail.delete',
);
