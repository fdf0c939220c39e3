import { auditLog } from '@portal/platform/audit';

export const { auditActions, auditParams, recordAudit } = auditLog(
  'groups.create',
  'groups.update',
  'groups.delete',
  'groups.members',
  'modules.update',
  'module_grants.set',
  'module_grants.delete',
  'module_categories.create',
  'module_categories.update',
  'module_categories.order',
  'module_categories.assign',
  'module_categories.delete',
  'custom_modules.create',
  'custom_modules.update',
  'custom_modules.delete',
);
