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

/** Context without account or tenant: for open routes and platform jobs. */
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
  /** Figures of the queues, by job name. */
  jobFigures: () => Promise<Map<string, JobFigures>>;
  /** The queue board's answer to a GET of this path. The caller must check access first. */
  askQueueBoard: (path: string) => Promise<BoardAnswer>;
  secrets: SecretStore;
  files: FileStore;
  sandbox: Sandbox;
  metrics: Metrics;
  /** Resources that areas open once per process, see `resource`. */
  resources: Resources;
}

/** Context within one tenant: for tenant jobs. */
export interface TenantContext extends SystemContext, TenantScope {}

/** Context of a signed-in account: for use cases behind a session. */
export interface UserContext extends TenantContext {
  actor: Actor;
  /** The actor's account as read at the start of the request. */
  account: OwnAccount;
  sessionId: string;
}
