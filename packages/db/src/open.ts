import { Pool, type PoolClient } from 'pg';
import { PortalError, unavailable } from '@portal/domain/errors';
import { isUnreachable } from './database-error.ts';
import { acrossPreamble, type Preamble, tenantPreamble } from './pg/preamble.ts';
import { sendOver } from './pg/send.ts';
import { type Reader, runAlone, transact, type Tx } from './pg/transaction.ts';
import { execute, type Prepared } from './prepared.ts';
import { appRoleName } from './roles.ts';

export type { Reader, Tx };

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

/** Everything one tenant's code can reach. Row policies hold it to that tenant whatever it asks for. */
export interface TenantScope {
  readonly tenantId: string;
  read<T>(work: (db: Reader) => Promise<T>): Promise<T>;
  run<Params extends Record<string, unknown>, Row>(statement: Prepared<Params, Row>, params: Params): Promise<Row[]>;
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

export interface Database {
  /** With an account, the scope also sees what of platform tables is that account's alone. */
  inTenant(tenantId: string, accountId?: string): TenantScope;
  /** A transaction that sees every tenant. `why` is a constant phrase for the log, told each time. */
  acrossTenants<T>(why: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** A single prepared read that sees every tenant. */
  runAcrossTenants<Params extends Record<string, unknown>, Row>(
    why: string,
    statement: Prepared<Params, Row>,
    params: Params,
  ): Promise<Row[]>;
  /**
   * A single prepared statement outside any scope: row policies let it see no row, so all it can do is call a function that the
   * migration allows the apps (`rights.ts`). One message there and one back, where a scope takes three.
   */
  runInNoTenant<Params extends Record<string, unknown>, Row>(
    statement: Prepared<Params, Row>,
    params: Params,
  ): Promise<Row[]>;
  /** Resolves when the server answers, rejects within about five seconds when it does not. */
  ping(): Promise<void>;
  poolState(): { total: number; idle: number; waiting: number; max: number };
  close(): Promise<void>;
}

/** Opens the pool. No query can be sent but through a scope, and no scope exists without its tenant or its reason. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = openPool(options);

  async function useConnection<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch((cause: unknown) => {
      throw unreachable(cause);
    });
    let isLost = false;
    try {
      return await work(client);
    } catch (error) {
      isLost = isUnreachable(error);
      throw error;
    } finally {
      // A connection that is still inside a transaction serves nobody else.
      client.release(isLost || client.getTransactionStatus() !== 'I');
    }
  }

  const transaction = <T>(preamble: Preamble, work: (tx: Tx) => Promise<T>): Promise<T> =>
    useConnection((client) => transact(client, preamble, work)).catch(rethrow);

  const single = <Params extends Record<string, unknown>, Row>(
    preamble: Preamble,
    statement: Prepared<Params, Row>,
    params: Params,
  ): Promise<Row[]> => useConnection((client) => runAlone(client, preamble, statement, params)).catch(rethrow);

  return {
    inTenant(tenantId, accountId) {
      const preamble = tenantPreamble(tenantId, accountId);
      return {
        tenantId,
        read: (work) => transaction(preamble, work),
        run: (statement, params) => single(preamble, statement, params),
        tx: (work) => transaction(preamble, work),
      };
    },
    acrossTenants(why, work) {
      options.onAcrossTenants?.(why);
      return transaction(acrossPreamble, work);
    },
    runAcrossTenants(why, statement, params) {
      options.onAcrossTenants?.(why);
      return single(acrossPreamble, statement, params);
    },
    runInNoTenant: (statement, params) =>
      useConnection((client) =>
        execute(client, statement, params, (query, values) => sendOver(client, query, values)),
      ).catch(rethrow),
    ping: () => useConnection(async (client) => void (await sendOver(client, { text: 'select 1' }))).catch(rethrow),
    poolState: () => ({
      total: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      max: options.poolMax,
    }),
    close: () => pool.end(),
  };
}

function openPool(options: DatabaseOptions): Pool {
  const pool = new Pool({
    connectionString: options.url,
    max: options.poolMax,
    application_name: options.applicationName,
    // Session settings from the first byte on: the role the policies speak of, and a bound on every wait.
    options: `-c role=${appRoleName} -c statement_timeout=30s -c lock_timeout=10s -c idle_in_transaction_session_timeout=60s`,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    // Preamble, statement and commit go out together; without this each waits for the answer to the one before.
    pipeline: true,
    keepAlive: true,
  });
  pool.on('error', (error) => options.onConnectionLost?.(error));
  // From the first moment on: a server that ends a connection as it is made would else meet nobody who listens.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

const unreachable = (cause: unknown): Error => unavailable(undefined, cause);

/** Says that the database is away instead of what the driver said about it. */
const rethrow = (error: unknown): never => {
  throw isUnreachable(error) && !(error instanceof PortalError) ? unreachable(error) : error;
};
