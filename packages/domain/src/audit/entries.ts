import { z } from 'zod';
import { Id } from '../ids.ts';
import { Instant } from '../time.ts';

/** Every action the audit log knows, `area.what`. A new one is added here first, so that the list in the API stays whole. */
export const auditActions = [
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
  'tenants.create',
  'tenants.update',
  'tenants.delete',
  'smtp_config.update',
  'smtp_config.delete',
  'smtp_config.test',
  'mails.daily_limit',
  'welcome_mail.update',
  'welcome_mail.delete',
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
  'ldap_config.update',
  'ldap_config.delete',
  'ldap_mappings.create',
  'ldap_mappings.delete',
  'ldap.test',
  'ldap.sync',
] as const;

export const AuditAction = z.enum(auditActions);
export type AuditAction = z.infer<typeof AuditAction>;

export const AuditEntry = z
  .object({
    id: Id,
    at: Instant,
    actorId: Id.nullable().describe('Null when nobody was signed in'),
    actorName: z.string().nullable(),
    action: z.string(),
    targetType: z.string().nullable(),
    targetId: z.string().nullable(),
    summary: z.string().describe('One English sentence without secret values'),
    ip: z.string().nullable(),
  })
  .meta({
    id: 'AuditEntry',
    example: {
      id: '0198d3c1-0a2b-7c3d-9e4f-5a6b7c8d9e0f',
      at: '2026-11-20T08:30:00.000Z',
      actorId: '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a11',
      actorName: 'anna.schmidt',
      action: 'users.create',
      targetType: 'user',
      targetId: '0198d3c2-1b2c-7d3e-8f4a-6b7c8d9e0f1a',
      summary: 'Created the account max.meier with the role USER.',
      ip: '192.0.2.10',
    },
  });
