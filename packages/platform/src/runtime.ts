import { newestMigration } from '@portal/db/migrations';
import { type Database, openDatabase } from '@portal/db/open';
import { longestWaitMs } from './answer-in-time.ts';
import type { Config } from './config.ts';
import type { TenantContext, SystemContext } from './context.ts';
import { openFileStore } from './files/open-store.ts';
import { openJobFigures } from './jobs/figures.ts';
import type { Log } from './log.ts';
import { type Metrics, openMetrics } from './metrics.ts';
import { openQueueBoard } from './queues/queue-board.ts';
import { openQueues, type Queues } from './queues/queues.ts';
import type { Resources } from './resource.ts';
import { openSandbox, type Sandbox } from './sandbox/open-sandbox.ts';
import { openSecrets } from './secrets/sealed.ts';
import { openSecretStore } from './secrets/stored-secret.ts';

/** The request or job that work belongs to. */
export interface Origin {
  requestId: string;
  ip: string | null;
  userAgent: string | null;
  tenantId?: string;
  actorId?: string;
}

/** Everything that a process opens once: connections to the database and the queues, keys, metrics. */
export interface Runtime {
  config: Config;
  log: Log;
  metrics: Metrics;
  sandbox: Sandbox;
  resources: Resources;
  database: Database;
  queues: Queues;
  system(origin: Origin): SystemContext;
  tenant(origin: Origin, tenantId: string): TenantContext;
  close(): Promise<void>;
}

/** Opens the runtime for use cases. It connects on first use, so it neither waits nor fails if a server cannot be reached. */
export function openRuntime(config: Config, options: { process: 'api' | 'worker' | 'script'; log: Log }): Runtime {
  const { log } = options;
  const database = openDatabase({
    url: config.database.url.reveal(),
    poolMax: config.database.poolMax,
    applicationName: `portal-${options.process}`,
    // A process that was upgraded before the database waits for it, and answers 503 meanwhile.
    ...(options.process !== 'script' && { newestMigration: newestMigration() }),
    onConnectionLost: (error) => log.warn({ err: error }, 'a database connection was lost'),
    onAcrossTenants: (why) => log.debug({ why }, 'cross-tenant scope'),
  });
  const queues = openQueues({
    redis: config.redis?.reveal() ?? null,
    databaseUrl: config.database.url.reveal(),
    log,
    process: options.process,
  });
  const metrics = openMetrics(options.process, {
    pool: () => database.poolState(),
    queues: () => queues.counts(),
    lostNudges: () => queues.lostNudges(),
  });

  // Only in the API does a user wait for the result.
  const sandbox = openSandbox(options.process === 'api' ? { waitMs: longestWaitMs } : {});
  const board = openQueueBoard(queues);
  const resources: Resources = new Map();
  const files = openFileStore(config, log, metrics);
  const shared = {
    config,
    log,
    now: () => new Date(),
    inTenant: database.inTenant,
    acrossTenants: database.acrossTenants,
    runAcrossTenants: database.runAcrossTenants,
    runInNoTenant: database.runInNoTenant,
    secrets: openSecretStore(openSecrets(config.secretsKeys)),
    files,
    sandbox,
    metrics,
    resources,
    jobFigures: openJobFigures(queues),
    askQueueBoard: board.ask,
  };
  const system = (origin: Origin): SystemContext => ({
    ...shared,
    requestId: origin.requestId,
    ip: origin.ip,
    userAgent: origin.userAgent,
    enqueue: (job, payload, enqueueOptions) => queues.enqueue(job, payload, { ...enqueueOptions, origin }),
  });

  return {
    config,
    log,
    metrics,
    sandbox,
    resources,
    database,
    queues,
    system,
    tenant: (origin, tenantId) => ({ ...system({ ...origin, tenantId }), ...database.inTenant(tenantId) }),
    async close() {
      await sandbox.close();
      await board.close();
      await files.close();
      await queues.close();
      await database.close();
    },
  };
}
