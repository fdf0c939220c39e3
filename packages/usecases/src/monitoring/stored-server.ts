import { eq } from 'drizzle-orm';
import { ServerFailure } from '@portal/connectors/servers/server-failure';
import type { Login, MonitoredServer } from '@portal/connectors/servers/server-session';
import type { Tx } from '@portal/db/open';
import { monitoredServers } from '@portal/db/schema/monitoring/servers';
import { accountOf, secretFieldOf, type ServerInput, serverTarget } from '@portal/domain/monitoring/servers';
import type { SecretInput } from '@portal/domain/secret-input';
import type { TenantContext } from '@portal/platform/context';
import { UnreadableSecretError } from '@portal/platform/secrets/sealed';
import type { StoredSecret } from '@portal/platform/secrets/stored-secret';

/** The columns needed to reach a server, with sealed secrets. */
export const serverColumns = {
  id: monitoredServers.id,
  kind: monitoredServers.kind,
  address: monitoredServers.address,
  authMethod: monitoredServers.authMethod,
  tokenId: monitoredServers.tokenId,
  tokenSecret: monitoredServers.tokenSecret,
  username: monitoredServers.username,
  password: monitoredServers.password,
  verifyTls: monitoredServers.verifyTls,
  caCertificatePem: monitoredServers.caCertificatePem,
  revision: monitoredServers.revision,
};

export type StoredServer = Pick<typeof monitoredServers.$inferSelect, keyof typeof serverColumns>;

/** A server of the current tenant; undefined if the tenant has no server with this id. `lock` holds it until the transaction ends. */
export async function storedServer(
  db: Pick<Tx, 'select'>,
  id: string,
  lock?: 'update',
): Promise<StoredServer | undefined> {
  const query = db.select(serverColumns).from(monitoredServers).where(eq(monitoredServers.id, id));
  const [row] = await (lock ? query.for(lock) : query);
  return row;
}

type SecretField = 'tokenSecret' | 'password';

/** Binds a sealed secret to its row, so that it cannot be copied to another server. */
export const secretContext =
  (field: SecretField) =>
  (id: string): string =>
    `monitored_servers.${field === 'password' ? 'password' : 'token_secret'}:${id}`;

/** A secret as stored in the row of its server. */
export const storedSecret = (
  { secrets }: Pick<TenantContext, 'secrets'>,
  id: string,
  field: SecretField,
  stored: StoredServer | undefined,
): StoredSecret =>
  secrets.at({
    context: secretContext(field)(id),
    field,
    sealed: stored?.[field] ?? null,
    target: stored ? serverTarget(stored) : null,
  });

/** Whether a secret is stored for this method. */
export const hasSecretFor = (form: Pick<ServerInput, 'authMethod'>, stored: StoredServer | undefined): boolean =>
  Boolean(stored?.[secretFieldOf(form)]);

type Settings = Omit<StoredServer, 'id' | 'revision' | SecretField>;

/**
 * A server with these settings, and with its stored secret unless the input has a new one. Throws 400 `SECRET_REQUIRED` if the secret
 * was stored for another target, and a ServerFailure if no key of this process opens it.
 */
export function serverWith(
  ctx: Pick<TenantContext, 'secrets' | 'log' | 'config' | 'tenantId'>,
  stored: StoredServer | undefined,
  settings: Settings,
  input: SecretInput,
): MonitoredServer {
  const field = secretFieldOf(settings);
  const account = accountOf(settings) ?? '';
  try {
    const secret = storedSecret(ctx, stored?.id ?? '', field, stored).for(serverTarget(settings), input);
    if (!secret) throw new ServerFailure('zugang', 'No secret is stored for this server. Please enter it again.');
    const login: Login =
      field === 'tokenSecret'
        ? { method: 'token', id: account, secret }
        : { method: 'password', username: account, secret };
    return {
      kind: settings.kind,
      address: settings.address,
      login,
      trust: { caCertificatePem: settings.caCertificatePem, skipTlsVerify: !settings.verifyTls },
      policy: ctx.config.outbound.byAdmins,
    };
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    ctx.log.error(
      { err: error, tenantId: ctx.tenantId, serverId: stored?.id },
      'the secret of a server cannot be read',
    );
    throw new ServerFailure('zugang', 'The stored secret cannot be read any more. Please enter it again.');
  }
}
