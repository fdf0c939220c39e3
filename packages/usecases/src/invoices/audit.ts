import { auditLog } from '@portal/platform/audit';

export const { auditActions, recordAudit } = auditLog(
  'invoice_mailbox.update',
  'invoice_mailbox.delete',
  'invoice_mailbox.test',
  'invoices.update',
);
