import { sql } from 'drizzle-orm';
import { boolean, check, integer, pgEnum, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { instant, tenantColumns, tenantRules } from './columns.ts';
import { tenants } from './tenants.ts';

export const smtpSecurity = pgEnum('smtp_security', ['none', 'starttls', 'tls']);

/** A tenant's mail settings, one row per tenant. Without a host, the service sends the mail over its own server. */
export const smtpConfigs = pgTable(
  'smtp_configs',
  {
    ...tenantColumns,
    host: text(),
    port: integer(),
    security: smtpSecurity(),
    username: text(),
    /** Sealed: see packages/platform/src/secrets. */
    password: text(),
    fromAddress: text(),
    fromName: text(),
    replyTo: text(),
    verifyTls: boolean().notNull().default(true),
    bugReportRecipient: text(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('smtp_configs_tenant_unique').on(t.tenantId),
    check(
      'smtp_configs_complete',
      sql`${t.host} is null or (${t.port} is not null and ${t.security} is not null and ${t.fromAddress} is not null)`,
    ),
    ...tenantRules(t, tenants),
  ],
);

/** A tenant's own text of the welcome mail; without a row, the built-in text applies. */
export const welcomeMailTemplates = pgTable(
  'welcome_mail_templates',
  {
    ...tenantColumns,
    subject: text().notNull(),
    heading: text().notNull(),
    intro: text().notNull(),
    closing: text().notNull(),
    loginHintDirectory: text(),
    loginHintLocal: text(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [uniqueIndex('welcome_mail_templates_tenant_unique').on(t.tenantId), ...tenantRules(t, tenants)],
);
