import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { ldapConfigs } from '@portal/db/schema/directory';
import { smtpConfigs } from '@portal/db/schema/mail-settings';
import { bindPasswordContext } from '@portal/usecases/directory/stored-ldap-config';
import { passwordContext } from '../outbox/stored-smtp-config.ts';

/** A column that holds sealed secrets, and how the place of each is named when it is sealed. */
export interface SealedColumn {
  table: PgTable & { id: PgColumn };
  /** Text; null where nothing is kept. */
  column: PgColumn;
  /** The column `context` is made from: the row's id, or its tenant where a tenant has one row. */
  boundTo: PgColumn;
  context: (boundTo: string) => string;
}

/** Every sealed column there is: one that is missing here becomes unreadable when a key is taken away. */
export const sealedColumns: SealedColumn[] = [
  { table: smtpConfigs, column: smtpConfigs.password, boundTo: smtpConfigs.tenantId, context: passwordContext },
  { table: ldapConfigs, column: ldapConfigs.bindPassword, boundTo: ldapConfigs.tenantId, context: bindPasswordContext },
];
