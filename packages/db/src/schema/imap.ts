import { boolean, integer, pgEnum, text } from 'drizzle-orm/pg-core';

export const imapSecurity = pgEnum('imap_security', ['none', 'starttls', 'tls']);
export const imapFailure = pgEnum('imap_failure', [
  'unreachable',
  'certificate',
  'unauthorized',
  'folderMissing',
  'timeout',
  'protocol',
]);

/** The settings of a folder on a mail server. */
export const imapColumns = () => ({
  host: text().notNull(),
  port: integer().notNull(),
  security: imapSecurity().notNull(),
  username: text().notNull(),
  /** Sealed: see packages/platform/src/secrets. */
  password: text(),
  folder: text().notNull(),
  caCertificatePem: text(),
  isActive: boolean().notNull(),
});
