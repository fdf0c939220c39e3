import { moduleGrants } from '@portal/db/schema/modules';
import { newId } from '@portal/domain/ids';
import { AlertMailboxInput } from '@portal/domain/tenders/alert-mailbox';
import type { TenantContext } from '@portal/platform/context';

/** Mailbox settings for an account on an unencrypted local mail server. */
export const alertMailboxForm = (
  server: { host: string; port: number; password?: string },
  username: string,
  more: Partial<AlertMailboxInput> = {},
): AlertMailboxInput =>
  AlertMailboxInput.parse({
    host: server.host,
    port: server.port,
    security: 'none',
    username,
    password: server.password ?? 'mailbox-secret',
    ...more,
  });

/** Grants an account of the context's tenant the use of the tender radar. */
export const grantTenderRadar = (ctx: TenantContext, userId: string): Promise<unknown> =>
  ctx.tx((tx) =>
    tx
      .insert(moduleGrants)
      .values({ id: newId(), tenantId: ctx.tenantId, userId, moduleKey: 'tender-radar', level: 'USE' }),
  );
