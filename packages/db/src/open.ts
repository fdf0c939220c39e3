import { Pool, type PoolClient } from 'pg';
import { PortalError, unavailable } from '@portal/domain/errors';
import { isReadOnly, isUnreachable } from './database-error.ts';
import { acrossPreamble, type Preamble, tenantPreamble } from './pg/preamble.ts';
import { sendOver } from './pg/send.ts';
import { type Reader, runAlone, transact, type Tx } from './pg/transaction.ts';
import { execute, type Prepared } from './prepared.ts';
import { appRoleName } from './roles.ts';
import { keepAlive, refuseOlderSchema, refuseStandby } from './usable-server.ts';

export type { Reader, Tx };

export interface DatabaseOptions {
  url: string;
  /** Maximum connections of this process; each serves one caller at a time. */
  poolMax: number;
  /** Name that the server shows for each connection: `portal-api`, `portal-worker`. */
  applicationName: string;
  /** Time of the last migration that the caller needs; a database without it counts as unreachable. Unset, any will do. */
  newestMigration?: number;
  /** Called when an idle connection breaks; the pool replaces it. */
  onConnectionLost?: (error: Error) => void;
  /** Called with the reason for each cross-tenant scope. */
  onAcrossTenants?: (why: string) => void;
}

/** Database access within one tenant; row policies limit every statement to that tenant. */
export interface TenantScope {
  readonly tenantId: string;
  read<T>(work: (db: Reader) => Promise<T>): Promise<T>;
  run<Params extends Record<string, unknown>, Row>(statement: Prepared<Params, Row>, params: Params): Promise<Row[]>;
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

export interface Database {
  /**
   * With an account, the scope also sees the rows that belong to that account alone. A scope without it only sees less, and few areas
   * have such rows, so requests do not set it by default.
   */
  inTenant(tenantId: string, accountId?: string): TenantScope;
  /** A transaction that sees every tenant. `why` is a constant phrase that is logged each time. */
  acrossTenants<T>(why: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** A single prepared read that sees every tenant. */
  runAcrossTenants<Params extends Record<string, unknown>, Row>(
    why: string,
    statement: Prepared<Params, Row>,
    params: Params,
  ): Promise<Row[]>;
  /**
   * A single prepared statement outside any scope: row policies hide all rows, so it can only call a function that the migration
   * grants the apps (`rights.ts`). It takes one message each way, where a scope takes three.
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

/** Opens the pool. Queries can only be sent through a scope, and every scope names its tenant or its reason. */
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
      // A connection that may only read could do so for good, although a new one would lead to another server.
      isLost = isUnreachable(error) || isReadOnly(error);
      throw error;
    } finally {
      // A connection that is still inside a transaction must not be reused.
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
    // Set from the first statement on: the role that the policies name, and a bound on every wait.
    options: `-c role=${appRoleName} -c statement_timeout=30s -c lock_timeout=10s -c idle_in_transaction_session_timeout=60s`,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    // Preamble, statement and commit go out together; without this each waits for the answer to the one before.
    pipeline: true,
    ...keepAlive,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: async (client) => {
      await refuseStandby(client);
      if (options.newestMigration !== undefined) await refuseOlderSchema(client, options.newestMigration);
    },
  });
  pool.on('error', (error) => options.onConnectionLost?.(error));
  // Registered on connect: otherwise a server that ends a new connection at once would emit an unhandled error.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

const unreachable = (cause: unknown): Error => unavailable(undefined, cause);

/** Replaces the driver's error with "unavailable" if the database cannot be reached. */
const rethrow = (error: unknown): never => {
  throw isUnreachable(error) && !(error instanceof PortalError) ? unreachable(error) : error;
};
