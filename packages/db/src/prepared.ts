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

interface Built<Row> {
  execute(params?: Record<string, unknown>): Promise<Row[]>;
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
      prepare(name: string): Built<Row>;
    },
  ): Prepared<Params, Row> => ({ name, build: (db) => statement(db).prepare(name) });

/** Sends a statement to the server. */
export type Send = (statement: QueryConfig, values?: unknown[]) => Promise<QueryResult>;

const built = new WeakMap<object, Built<unknown>>();

// Set only while a statement is being handed over: one that comes at any other time would run for somebody else.
let sendNow: Send | null = null;
const db: Drizzle = drizzle(
  {
    query(statement: QueryConfig, values?: unknown[]) {
      if (!sendNow) throw tooLate();
      return sendNow(statement, values);
    },
  } as unknown as PoolClient,
  { casing: 'snake_case' },
);

/** Hands a statement over to `send` before it returns, and answers its rows. */
export async function execute<Params extends Record<string, unknown>, Row>(
  statement: Prepared<Params, Row>,
  params: Params,
  send: Send,
): Promise<Row[]> {
  let ready = built.get(statement) as Built<Row> | undefined;
  if (!ready) built.set(statement, (ready = statement.build(db)));
  sendNow = send;
  try {
    return ready.execute(params);
  } finally {
    sendNow = null;
  }
}

export const tooLate = () => new Error('a statement came too late for its transaction');
