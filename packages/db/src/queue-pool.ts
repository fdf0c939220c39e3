import { Pool } from 'pg';
import { appRoleName, queueSchema } from './roles.ts';
import { keepAlive, refuseStandby } from './usable-server.ts';

/**
 * Connections for the job queue's own tables only: they set no tenant, so every tenant table refuses them.
 * BullMQ holds one connection per queue that the process works, to listen for new jobs.
 */
export function openQueuePool(options: {
  url: string;
  max: number;
  applicationName: string;
  onConnectionLost: (error: Error) => void;
}): Pool {
  const pool = new Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    options: `-c role=${appRoleName} -c search_path=${queueSchema} -c statement_timeout=10s -c lock_timeout=5s -c idle_in_transaction_session_timeout=60s`,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    ...keepAlive,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: refuseStandby,
  });
  pool.on('error', options.onConnectionLost);
  // Between the pool and its caller a connection briefly has no error listener; an error at that moment would end the process.
  pool.on('connect', (client) => client.on('error', options.onConnectionLost));
  return pool;
}
