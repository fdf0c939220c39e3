import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, jsonb, pgEnum, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { createdAt, identifier, instant, tenantColumns, tenantRules } from '../columns.ts';
import { tenants } from '../tenants.ts';

export const roleEnum = pgEnum('role', ['SUPER_ADMIN', 'ADMIN', 'USER']);

export const languageEnum = pgEnum('language', ['de', 'en']);
export const themeEnum = pgEnum('theme', ['light', 'dark']);

export const users = pgTable(
  'users',
  {
    ...tenantColumns,
    /** NFC, lower case; unique across tenants, because sign-in names no tenant. */
    username: text().notNull(),
    /** Lower case; unique across tenants if set. */
    email: text(),
    displayName: text(),
    firstName: text(),
    lastName: text(),
    /** argon2id in PHC form; null for directory accounts and for accounts whose set-password link is unused. */
    passwordHash: text(),
    /** Set for accounts imported from a directory; never leaves the server. */
    ldapDn: text(),
    /** objectGUID or entryUUID of the directory entry, which survives renames and moves. */
    directoryId: identifier(),
    /** True if a synchronization switched the account off. Only then may a synchronization switch it on again. */
    deactivatedBySync: boolean().notNull().default(false),
    role: roleEnum().notNull().default('USER'),
    isActive: boolean().notNull().default(true),
    mustChangePassword: boolean().notNull().default(false),
    /** When a password that must be changed expires; null if the user chose it. */
    temporaryPasswordUntil: instant(),
    /** Replaces `email` once the user follows the mailed link; expires at `pendingEmailUntil`. */
    pendingEmail: text(),
    pendingEmailUntil: instant(),
    /** Incremented to end all sessions of the account at once. Each session token carries the value at sign-in. */
    sessionVersion: integer().notNull().default(1),
    lastLoginAt: instant(),
    welcomeMailSentAt: instant(),
    avatarPath: text(),
    accentColor: text().notNull().default('#2563eb'),
    dashboardBackground: jsonb(),
    /** Of the pages, as `theme`; null for that of the browser. */
    language: languageEnum(),
    theme: themeEnum(),
    lastSeenReleaseVersion: text(),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('users_username_unique').on(t.username),
    uniqueIndex('users_email_unique').on(t.email),
    uniqueIndex('users_directory_id_unique').on(t.tenantId, t.directoryId),
    index('users_tenant_username').on(t.tenantId, t.username),
    index('users_super_admin')
      .on(t.id)
      .where(sql`role = 'SUPER_ADMIN'`),
    index('users_pending_email')
      .on(t.pendingEmailUntil)
      .where(sql`pending_email is not null`),
    check('users_pending_email', sql`(${t.pendingEmail} is null) = (${t.pendingEmailUntil} is null)`),
    check('users_deactivated_by_sync', sql`not (${t.isActive} and ${t.deactivatedBySync})`),
    check('users_accent_color', sql`${t.accentColor} ~ '^#[0-9a-f]{6}$'`),
    ...tenantRules(t, tenants),
  ],
);
