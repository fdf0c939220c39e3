import { drizzle } from 'drizzle-orm/node-postgres';
import { Pool, type PoolClient, type QueryConfig } from 'pg';
import { unavailable } from '@portal/domain/errors';
import {
  acrossTenantsBegins,
  type Beginning,
  prepareAheads,
  sameTenantBegins,
  setTenant,
  tenantBegins,
} from './beginnings.ts';
import { openLanes } from './lanes.ts';
import { builtFor, type Drizzle, type Prepared, type Statements } from './prepared.ts';
import { appRoleName } from './roles.ts';
import { type QueryByTurn, queryByTurn } from './turn.ts';

export interface DatabaseOptions {
  url: string;
  /** Connections this process may hold; each serves one caller at a time. */
  poolMax: number;
  /** Shown by the server beside each connection: `portal-api`, `portal-worker`. */
  applicationName: string;
  /** Told when an idle connection breaks; the pool replaces it by itself. */
  onConnectionLost?: (error: Error) => void;
  /** Told why each cross-tenant scope was opened. */
  onAcrossTenants?: (why: string) => void;
}

declare const scope: unique symbol;
/** What a piece of code may do inside a read scope: look, in one statement at a time. */
export type Reader = Pick<Drizzle, 'select' | 'selectDistinct' | '$with' | 'with' | '$count'> & { [scope]: 'read' };
/** What it may do inside a transaction. Nested transactions are not offered: a scope is one unit of work. */
export type Tx = Pick<
  Drizzle,
  'select' | 'selectDistinct' | '$with' | 'with' | '$count' | 'insert' | 'update' | 'delete' | 'execute'
> & {
  [scope]: 'read';
  /** Runs a prepared statement as part of this transaction. */
  run<Params extends Record<string, unknown>, Row>(statement: Prepared<Params, Row>, params: Params): Promise<Row[]>;
  /**
   * Runs a prepared statement as the last one: the commit travels right behind it, and the rows are there once it is done.
   * After that nothing more can be sent, and whatever the work makes of the rows, the transaction stands. As the first and
   * last one it is the transaction, and costs no more than a read.
   */
  runLast<Params extends Record<string, unknown>, Row>(
    statement: Prepared<Params, Row>,
    params: Params,
  ): Promise<Row[]>;
};

/** Everything one tenant's code can reach. Row policies hold it to that tenant whatever it asks for. */
export interface TenantScope {
  readonly tenantId: string;
  read<T>(work: (db: Reader) => Promise<T>): Promise<T>;
  run<Params extends Record<string, unknown>, Row>(statement: Prepared<Params, Row>, params: Params): Promise<Row[]>;
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

export interface Database {
  inTenant(tenantId: string): TenantScope;
  /** A transaction that sees every tenant. `why` is a constant phrase for the log, told each time. */
  acrossTenants<T>(why: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** A single prepared read that sees every tenant. */
  runAcrossTenants<Params extends Record<string, unknown>, Row>(
    why: string,
    statement: Prepared<Params, Row>,
    params: Params,
  ): Promise<Row[]>;
  /** Resolves when the server answers, rejects within about five seconds when it does not. */
  ping(): Promise<void>;
  poolState(): { total: number; idle: number; waiting: number; max: number };
  close(): Promise<void>;
}

/** A pooled connection, what it last served, and its prepared statements. */
interface Connection {
  client: PoolClient;
  query: QueryByTurn;
  tenantId: string | null;
  /** Whether the socket has failed; such a connection serves nobody else. */
  isBroken: boolean;
  /** How the transaction under way begins, until that has been sent; then `begun` settles with the server's word on it. */
  beginning: Beginning | null;
  begun: Promise<unknown> | null;
  /** The commit of the transaction under way, once it has been sent. */
  commit: Promise<unknown> | null;
  db: Drizzle;
  tx: Tx;
  statements: Statements;
}

function makeConnection(client: PoolClient): Connection {
  const query = queryByTurn(client);
  let isAlone = false;
  const db = drizzle(
    {
      query(statement: string | QueryConfig, values?: unknown[]) {
        // Behind its commit a statement of the transaction would run outside of it, so it is not sent at all.
        if (connection.commit) throw tooLate();
        const { beginning } = connection;
        if (!beginning) return query(statement, values);
        connection.beginning = null;
        if (isAlone) return (connection.commit = query(statement, values, beginning.ahead));
        begin(connection, beginning);
        return query(statement, values);
      },
    } as unknown as PoolClient,
    { casing: 'snake_case' },
  );
  const statements: Statements = new Map();
  const run: Tx['run'] = (statement, params) => builtFor(db, statements, statement).execute(params);
  const runLast: Tx['runLast'] = async (statement, params) => {
    if (connection.commit) throw tooLate();
    isAlone = connection.beginning !== null;
    const answer = run(statement, params);
    // Set already by a statement that is all of the transaction; one that was not handed over at once comes too late.
    connection.commit ??= isAlone ? Promise.resolve() : query('commit');
    isAlone = false;
    const [rows] = await Promise.all([answer, connection.commit]);
    return rows;
  };
  const connection: Connection = {
    client,
    query,
    tenantId: null,
    isBroken: false,
    beginning: null,
    begun: null,
    commit: null,
    db,
    tx: Object.assign(Object.create(db) as Tx, { run, runLast }),
    statements,
  };
  query(prepareAheads).catch(() => {
    connection.isBroken = true;
  });
  return connection;
}

/** Sends the beginning of a transaction. All of it stands inside: if any of it fails, the server refuses everything behind it. */
function begin(connection: Connection, { text, tenantId }: Beginning): void {
  connection.begun = tenantId === null ? connection.query(text) : enterTenant(connection, tenantId, text);
  connection.begun.catch(() => undefined);
}

/** Sends the text that names the tenant ahead of the next statement. */
function enterTenant(connection: Connection, tenantId: string, text: string): Promise<unknown> {
  // Unknown until the server has confirmed: a failed switch must never look like the tenant before.
  connection.tenantId = null;
  return connection.query(text).then(() => {
    connection.tenantId = tenantId;
  });
}

/** Ends a transaction, unless it was never begun; what has been committed already is only waited for. */
async function end({ beginning, commit, query }: Connection, how: 'commit' | 'rollback'): Promise<void> {
  if (commit) await commit;
  else if (!beginning) await query(how);
}

const tooLate = () => new Error('a statement came too late for its transaction');

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const laneCount = 2;

/** Opens the pool. No query can be sent but through a scope, and no scope exists without its tenant or its reason. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = new Pool({
    connectionString: options.url,
    max: options.poolMax,
    application_name: options.applicationName,
    // Session settings from the first byte on: the role the policies speak of, and a bound on every wait.
    options: `-c role=${appRoleName} -c statement_timeout=30s -c lock_timeout=10s -c idle_in_transaction_session_timeout=60s`,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    // Setting and statement travel in one flush; without this each waits for the answer to the one before.
    pipeline: true,
    keepAlive: true,
  });
  pool.on('error', (error) => options.onConnectionLost?.(error));

  const connections = new WeakMap<PoolClient, Connection>();
  // From the first moment on: a server that ends a connection as it is made would else meet nobody who listens.
  pool.on('connect', (client) => {
    const connection = makeConnection(client);
    client.on('error', () => {
      connection.isBroken = true;
    });
    connections.set(client, connection);
  });

  async function connectClient(): Promise<PoolClient> {
    try {
      return await pool.connect();
    } catch (cause) {
      throw unreachable(cause);
    }
  }

  async function connect(): Promise<Connection> {
    const client = await connectClient();
    const connection = connections.get(client);
    if (!connection) throw new Error('the pool handed out a connection it never announced');
    return connection;
  }

  async function useConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await connect();
    try {
      return await work(connection);
    } catch (error) {
      if (isConnectionFailure(error)) {
        connection.isBroken = true;
        throw unreachable(error);
      }
      throw error;
    } finally {
      // A connection whose tenant is uncertain or that is still inside a transaction serves nobody else.
      connection.client.release(connection.isBroken || connection.client.getTransactionStatus() !== 'I');
    }
  }

  /** One flush: tenant, statement. The rows count only when the tenant was confirmed. */
  const readIn = <T>(tenantId: string, work: (connection: Connection) => Promise<T>): Promise<T> =>
    useConnection(async (connection) => {
      if (connection.tenantId === tenantId) return work(connection);
      const [switched, result] = await Promise.allSettled([
        enterTenant(connection, tenantId, setTenant(tenantId)),
        work(connection),
      ]);
      if (switched.status === 'rejected') throw switched.reason;
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });

  /** What begins the transaction goes ahead of its first statement without waiting for an answer. */
  const transaction = <T>(beginning: (connection: Connection) => Beginning, work: (tx: Tx) => Promise<T>): Promise<T> =>
    useConnection(async (connection) => {
      connection.beginning = beginning(connection);
      try {
        const result = await work(connection.tx);
        await connection.begun;
        await end(connection, 'commit');
        return result;
      } catch (error) {
        // Behind a statement that failed, a commit takes everything back as well.
        await end(connection, 'rollback').catch(() => undefined);
        // The setting went back with the transaction that made it.
        connection.tenantId = null;
        // Of a beginning that failed, whatever came behind it only knows that something had.
        await connection.begun;
        throw error;
      } finally {
        Object.assign(connection, { beginning: null, begun: null, commit: null });
      }
    });

  // Lanes keep their connections; a small pool needs all it has for transactions.
  const lanes = openLanes(connectClient, options.poolMax >= 4 ? laneCount : 0);

  async function runPrepared<Params extends Record<string, unknown>, Row>(
    tenantId: string,
    statement: Prepared<Params, Row>,
    params: Params,
  ): Promise<Row[]> {
    const shared = lanes.run(tenantId, statement, params);
    if (shared) return shared.catch(rethrow);
    return readIn(tenantId, ({ db, statements }) => builtFor(db, statements, statement).execute(params));
  }

  return {
    inTenant(tenantId) {
      if (!uuid.test(tenantId)) throw new TypeError('inTenant needs a tenant id');
      return {
        tenantId,
        read: (work) => readIn(tenantId, (connection) => work(connection.db as unknown as Reader)),
        run: (statement, params) => runPrepared(tenantId, statement, params),
        tx: (work) =>
          transaction(
            (connection) => (connection.tenantId === tenantId ? sameTenantBegins : tenantBegins(tenantId)),
            work,
          ),
      };
    },
    acrossTenants(why, work) {
      options.onAcrossTenants?.(why);
      return transaction(() => acrossTenantsBegins, work);
    },
    runAcrossTenants(why, statement, params) {
      options.onAcrossTenants?.(why);
      const shared = lanes.run(null, statement, params);
      if (shared) return shared.catch(rethrow);
      return transaction(
        () => acrossTenantsBegins,
        (tx) => tx.runLast(statement, params),
      );
    },
    ping: () => useConnection(async ({ query }) => void (await query('select 1'))),
    poolState: () => ({
      total: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      max: options.poolMax,
    }),
    close() {
      lanes.close();
      return pool.end();
    },
  };
}

const unreachable = (cause: unknown): Error =>
  unavailable('The database cannot be reached right now. Please try again in a few seconds.', cause);

/** Says that the database is away instead of what the driver said about it. */
const rethrow = (error: unknown): never => {
  throw isConnectionFailure(error) ? unreachable(error) : error;
};

/** SQLSTATE of a failed statement, `23505` for a duplicate; null when the database did not answer with one. */
export function sqlState(error: unknown): string | null {
  return databaseError(error)?.code ?? null;
}

/** Name of the index or constraint a statement ran against, so that a use case can name the field. */
export function violatedConstraint(error: unknown): string | null {
  return databaseError(error)?.constraint ?? null;
}

interface ServerError extends Error {
  code: string;
  constraint?: string;
}

function databaseError(error: unknown): ServerError | null {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string' && /^[0-9A-Z]{5}$/.test(current.code)) {
      return current as ServerError;
    }
  }
  return null;
}

// Class 08: connection exceptions; 57P01-57P03: the server is shutting down, crashed or starting; 53300: no slot left.
const gone = /^(08...|57P0[1-3]|53300)$/;
const socketFailures = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);

function isConnectionFailure(error: unknown): boolean {
  const state = sqlState(error);
  if (state) return gone.test(state);
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && socketFailures.has(String(current.code))) return true;
    if (/connection terminated|not queryable|connection error/i.test(current.message)) return true;
  }
  return false;
}
