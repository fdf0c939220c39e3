import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';

/** A column that holds sealed secrets, and how the place of each is named when it is sealed. */
export interface SealedColumn {
  table: PgTable & { id: PgColumn };
  /** Text; null where nothing is kept. */
  column: PgColumn;
  /** The column `context` is made from: the row's id, or its tenant where a tenant has one row. */
  boundTo: PgColumn;
  context: (boundTo: string) => string;
}
