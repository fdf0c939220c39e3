import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

/** A value for every column of a table. */
export type RowOf<Table extends PgTable> = Record<keyof Table['$inferSelect'], SQL>;

/** The select list for `insert into … select …`: the values in the order of the table's columns. */
export const valuesOf = <Table extends PgTable>(table: Table, row: RowOf<Table>): SQL =>
  sql.join(
    Object.keys(getTableColumns(table)).map((column) => row[column as keyof RowOf<Table>]),
    sql`, `,
  );
