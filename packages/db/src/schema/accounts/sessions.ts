import { sql } from 'drizzle-orm';
import { boolean, foreignKey, index, pgEnum, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { bytea, createdAt, instant, tenantColumns, tenantRules } from '../columns.ts';
import { mails } from '../platform/mails.ts';
import { tenants } from '../tenants.ts';
import { users } from './users.ts';

/** One row per sign-in. The cookie only names the row; the row decides whether the session is valid. */
export const sessions = pgTable(
  'sessions',
  {
    ...tenantColumns,
    userId: uuid().notNull(),
    createdAt: createdAt(),
    lastSeenAt: instant().notNull().defaultNow(),
    expiresAt: instant().notNull(),
    revokedAt: instant(),
    ip: text(),
    userAgent: text(),
  },
  (t) => [
    index('sessions_user').on(t.tenantId, t.userId),
    index('sessions_expires').on(t.expiresAt),
    index('sessions_revoked')
      .on(t.revokedAt)
      .where(sql`revoked_at is not null`),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);

export const passwordTokenPurpose = pgEnum('password_token_purpose', ['reset', 'welcome']);

/** Set-password links. Only the mail holds the token in the clear; this table holds its SHA-256. */
export const passwordTokens = pgTable(
  'password_tokens',
  {
    ...tenantColumns,
    userId: uuid().notNull(),
    purpose: passwordTokenPurpose().notNull(),
    /** The address the link was mailed to. The link is invalid once the account has another. Null in rows of the previous release. */
    email: text(),
    tokenHash: bytea().notNull(),
    /** The outbox mail that carries the link. A retry of that mail keeps its earlier token valid. */
    mailId: uuid().notNull(),
    /** True if the tenant's own mail server sent the mail. Its administrators may read it, so the link is invalid for a SUPER_ADMIN. */
    overTenantServer: boolean().notNull().default(true),
    createdAt: createdAt(),
    expiresAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('password_tokens_hash_unique').on(t.tokenHash),
    index('password_tokens_user').on(t.tenantId, t.userId),
    index('password_tokens_mail').on(t.tenantId, t.mailId),
    index('password_tokens_expires').on(t.expiresAt),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.tenantId, t.mailId], foreignColumns: [mails.tenantId, mails.id] }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);

/** Links that confirm an account's pending address. Only the mail holds the token in the clear. */
export const emailTokens = pgTable(
  'email_tokens',
  {
    ...tenantColumns,
    userId: uuid().notNull(),
    /** The address that the link was mailed to and that it confirms. */
    email: text().notNull(),
    tokenHash: bytea().notNull(),
    mailId: uuid().notNull(),
    createdAt: createdAt(),
    expiresAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('email_tokens_hash_unique').on(t.tokenHash),
    index('email_tokens_user').on(t.tenantId, t.userId),
    index('email_tokens_mail').on(t.tenantId, t.mailId),
    index('email_tokens_expires').on(t.expiresAt),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.tenantId, t.mailId], foreignColumns: [mails.tenantId, mails.id] }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);
