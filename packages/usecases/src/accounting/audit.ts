import { auditLog } from '@portal/platform/audit';

export const { auditActions, recordAudit } = auditLog(
  'canteen.settings',
  'canteen.export',
  'merchandise.settings',
  'merchandise.export',
  'merchandise.account_create',
  'merchandise.account_update',
  'merchandise.account_delete',
  'merchandise.accounts_import',
  'merchandise.accounts_export',
);
