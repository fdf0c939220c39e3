import type { Database, TenantScope } from '@portal/db/open';
import type { Actor } from '@portal/domain/access';
import type { OwnAccount } from '@portal/domain/accounts/accounts';
import type { Config } from './config.ts';
import type { FileStore } from './files/store.ts';
import type { JobFigures } from './jobs/figures.ts';
import type { Enqueue } from './jobs/job.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { BoardAnswer } from './queues/queue-board.ts';
import type { Resources } from './resource.ts';
import type { Sandbox } from './sandbox/open-sandbox.ts';
import type { SecretStore } from './secrets/stored-secret.ts';

/** What every use case may reach, whoever calls: no account, no tenant yet. Open routes and platform jobs get this. */
export interface SystemContext {
  config: Config;
  log: Log;
  now: () => Date;
  requestId: string;
  ip: string | null;
  userAgent: string | null;
  inTenant: Database['inTenant'];
  acrossTenants: Database['acrossTenants'];
  runAcrossTenants: Database['runAcrossTenants'];
  runInNoTenant: Database['runInNoTenant'];
  enqueue: Enqueue;
  /** What the queues hold, by job name. */
  jobFigures: () => Promise<Map<string, JobFigures>>;
  /** What the board over the queues answers to a GET of this path. The caller has checked who may see it. */
  askQueueBoard: (path: string) => Promise<BoardAnswer>;
  secrets: SecretStore;
  files: FileStore;
  sandbox: Sandbox;
  metrics: Metrics;
  /** What areas open once for the process, see `resource`. */
  resources: Resources;
}

/** The same within one tenant: what a tenant job gets. */
export interface TenantContext extends SystemContext, TenantScope {}

/** The same for a signed-in account: what a use case behind a session gets. */
export interface UserContext extends TenantContext {
  actor: Actor;
  /** The actor's account as it stood when the request came in. */
  account: OwnAccount;
  sessionId: string;
}
