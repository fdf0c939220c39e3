import { auditLog } from '@portal/platform/audit';

export const { auditActions, auditParams, recordAudit } = auditLog(
  'ldap_config.update',
  'ldap_config.delete',
  'ldap_mappings.create',
  'ldap_mappings.delete',
  'ldap.test',
  'ldap.sync',
);
