import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PoolClient, QueryConfig, QueryResult } from 'pg';

export type Drizzle = NodePgDatabase;

/** A statement built once and prepared by the server, on each connection, under its name. */
export interface Prepared<Params, Row> {
  readonly name: string;
  readonly build: (db: Drizzle) => Built<Row>;
  /** Only carries the parameter type. */
  readonly params?: Params;
}

/** The rows that a statement returns. */
export type RowOf<Statement> = Statement extends Prepared<unknown, infer Row> ? Row : never;

interface Built<Row> {
  execute(params?: Record<string, unknown>): Promise<Row[]>;
}

type Builder = Pick<Drizzle, 'select' | 'with' | '$with' | 'insert' | 'update' | 'delete'>;

/**
 * Names a statement for hot paths; `sql.placeholder('x')` marks a parameter. Names are unique in the product.
 * A statement that writes is for transactions only, and ends with `returning`, so that it returns rows.
 */
export const prepared =
  <Params extends Record<string, unknown>>() =>
  <Row>(name: string, statement: (db: Builder) => { prepare(name: string): Built<Row> }): Prepared<Params, Row> => ({
    name,
    build: (db) => statement(db).prepare(name),
  });

/**
 * A statement with optional parameters; `given` says which are present, so that the conditions for the others can be left out.
 * Each combination is built and prepared on first use: a single statement for all of them would share one plan.
 */
export const preparedFor =
  <Params extends Record<string, unknown>>() =>
  <Row>(
    name: string,
    statement: (db: Builder, given: (param: keyof Params & string) => boolean) => { prepare(name: string): Built<Row> },
  ): ((params: Params) => Prepared<Params, Row>) => {
    const variants = new Map<string, Prepared<Params, Row>>();
    return (params) => {
      const given = new Set(Object.keys(params).filter((param) => params[param] !== undefined));
      const key = [...given].toSorted().join();
      const variant =
        variants.get(key) ??
        prepared<Params>()(`${name}_${variants.size}`, (db) => statement(db, (param) => given.has(param)));
      variants.set(key, variant);
      return variant;
    };
  };

/** Sends a statement to the server. */
export type Send = (statement: QueryConfig, values?: unknown[]) => Promise<QueryResult>;

/** The statements prepared on one connection. */
class Statements {
  readonly #built = new Map<object, Built<unknown>>();
  // Set only while a statement is being sent: at any other time it would run for another tenant.
  #send: Send | null = null;
  readonly #db: Drizzle = drizzle(
    {
      query: (statement: QueryConfig, values?: unknown[]) => {
        if (!this.#send) throw tooLate();
        return this.#send(statement, values);
      },
    } as unknown as PoolClient,
    { casing: 'snake_case' },
  );

  execute<Params extends Record<string, unknown>, Row>(
    statement: Prepared<Params, Row>,
    params: Params,
    send: Send,
  ): Promise<Row[]> {
    const built = (this.#built.get(statement) as Built<Row> | undefined) ?? statement.build(this.#db);
    this.#built.set(statement, built);
    this.#send = send;
    try {
      return built.execute(params);
    } finally {
      this.#send = null;
    }
  }
}

const statementsOf = new WeakMap<object, Statements>();

/** Prepares a statement once per `client`, passes it to `send` synchronously, and returns its rows. */
export async function execute<Params extends Record<string, unknown>, Row>(
  client: object,
  statement: Prepared<Params, Row>,
  params: Params,
  send: Send,
): Promise<Row[]> {
  const statements = statementsOf.get(client) ?? new Statements();
  statementsOf.set(client, statements);
  return statements.execute(statement, params, send);
}

export const tooLate = () => new Error('a statement came too late for its transaction');
