import type { NodePgDatabase } from 'drizzle-orm/node-postgres';

export type Drizzle = NodePgDatabase;

/** A statement built once per connection and prepared by the server under its name. */
export interface Prepared<Params, Row> {
  readonly name: string;
  readonly build: (db: Drizzle) => { execute(params?: Record<string, unknown>): Promise<Row[]> };
  /** Only carries the parameter type. */
  readonly params?: Params;
}

/**
 * Names a statement for hot paths; `sql.placeholder('x')` marks what each call fills in. Names are unique in the product.
 * One that writes is for transactions alone and ends with `returning`, so that its answer is rows.
 */
export const prepared =
  <Params extends Record<string, unknown>>() =>
  <Row>(
    name: string,
    statement: (db: Pick<Drizzle, 'select' | 'with' | '$with' | 'insert' | 'update' | 'delete'>) => {
      prepare(name: string): { execute(params?: Record<string, unknown>): Promise<Row[]> };
    },
  ): Prepared<Params, Row> => ({ name, build: (db) => statement(db).prepare(name) });

/** Statements built for one connection, by name. */
export type Statements = Map<string, ReturnType<Prepared<unknown, unknown>['build']>>;

/** The statement as built for this connection, on its first use now. */
export function builtFor<Params extends Record<string, unknown>, Row>(
  db: Drizzle,
  statements: Statements,
  statement: Prepared<Params, Row>,
): ReturnType<Prepared<Params, Row>['build']> {
  let built = statements.get(statement.name);
  if (!built) {
    built = statement.build(db);
    statements.set(statement.name, built);
  }
  return built as ReturnType<Prepared<Params, Row>['build']>;
}
