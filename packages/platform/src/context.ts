import type { Database, TenantScope } from '@portal/db/open';
import type { Actor } from '@portal/domain/access';
import type { OwnAccount } from '@portal/usecases/accounts/account-columns';
import type { AvatarImages } from '@portal/usecases/accounts/avatar-image';
import type { PasswordHashing } from '@portal/usecases/accounts/password-hashing';
import type { SessionTokens } from '@portal/usecases/accounts/session-token';
import type { DirectoryBinds } from '@portal/usecases/directory/directory-binds';
import type { Config } from './config.ts';
import type { FileRoom } from './files/store.ts';
import type { IconImages } from './images/icon-image.ts';
import type { JobFigures } from './jobs/figures.ts';
import type { Enqueue } from './jobs/job.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { SecretStore } from './secrets/stored-secret.ts';

/** What every use case may reach, whoever calls: no account, no tenant yet. Open routes and platform jobs get this. */
export interface Visit {
  config: Config;
  log: Log;
  now: () => Date;
  requestId: string;
  ip: string | null;
  userAgent: string | null;
  inTenant: Database['inTenant'];
  acrossTenants: Database['acrossTenants'];
  runAcrossTenants: Database['runAcrossTenants'];
  enqueue: Enqueue;
  /** What the queues hold, by job name. */
  jobFigures: () => Promise<Map<string, JobFigures>>;
  passwords: PasswordHashing;
  directoryBinds: DirectoryBinds;
  sessionTokens: SessionTokens;
  secrets: SecretStore;
  files: FileRoom;
  avatarImages: AvatarImages;
  iconImages: IconImages;
  countSignIn: Metrics['countSignIn'];
}

/** The same within one tenant: what a tenant job gets. */
export interface TenantCtx extends Visit, TenantScope {}

/** The same for a signed-in account: what a use case behind a session gets. */
export interface Ctx extends TenantCtx {
  actor: Actor;
  /** The actor's account as it stood when the request came in. */
  account: OwnAccount;
  sessionId: string;
}
