import { auditLog } from '@portal/platform/audit';

export const { auditActions, auditParams, recordAudit } = auditLog(
  'auth.login',
  'auth.login_failed',
  'auth.logout',
  'auth.logout_all',
  'auth.password_changed',
  'auth.reset_requested',
  'auth.password_reset',
  'auth.email_change_requested',
  'auth.email_change_withdrawn',
  'auth.email_changed',
  'users.create',
  'users.update',
  'users.delete',
  'users.reset_password',
  'users.logout_all',
  'users.welcome_mail',
);
