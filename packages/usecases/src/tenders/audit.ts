import { auditLog } from '@portal/platform/audit';

export const { auditActions, recordAudit } = auditLog(
  'feeds.create',
  'feeds.update',
  'feeds.delete',
  'tender-sources.run',
  'tender-mailbox.test',
);
