import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';

/** A column with sealed secrets, and the context that each of them is bound to. */
export interface SealedColumn {
  table: PgTable & { id: PgColumn };
  /** Text; null where no secret is stored. */
  column: PgColumn;
  /** The column `context` is made from: the row's id, or its tenant where a tenant has one row. */
  boundTo: PgColumn;
  context: (boundTo: string) => string;
}
