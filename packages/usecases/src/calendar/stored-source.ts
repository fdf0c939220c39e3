import { and, eq } from 'drizzle-orm';
import { type CalendarAccess, CalendarFailure } from '@portal/connectors/calendar/calendar-access';
import type { Tx } from '@portal/db/open';
import { calendarSources } from '@portal/db/schema/calendar';
import { type CalendarKind, isShownAddress, sourceTarget } from '@portal/domain/calendar/sources';
import { invalidField } from '@portal/domain/errors';
import type { SecretInput } from '@portal/domain/secret-input';
import type { TenantContext, UserContext } from '@portal/platform/context';
import { UnreadableSecretError } from '@portal/platform/secrets/sealed';
import type { StoredSecret } from '@portal/platform/secrets/stored-secret';

/** The columns needed to reach a source, with sealed secrets. */
export const sourceColumns = {
  id: calendarSources.id,
  kind: calendarSources.kind,
  origin: calendarSources.origin,
  url: calendarSources.url,
  username: calendarSources.username,
  password: calendarSources.password,
};

export type StoredSource = Pick<typeof calendarSources.$inferSelect, keyof typeof sourceColumns>;

/** One of the caller's sources. `lock` holds the row until the transaction ends. */
export async function ownSource(
  db: Pick<Tx, 'select'>,
  ctx: UserContext,
  id: string,
  lock?: 'update',
): Promise<typeof calendarSources.$inferSelect | undefined> {
  const query = db
    .select()
    .from(calendarSources)
    .where(and(eq(calendarSources.id, id), eq(calendarSources.userId, ctx.actor.id)));
  const [row] = await (lock ? query.for(lock) : query);
  return row;
}

type SecretField = 'url' | 'password';

/** Binds a sealed secret to its row, so that it cannot be moved to another source. */
export const secretContext =
  (field: SecretField) =>
  (id: string): string =>
    `calendar_sources.${field}:${id}`;

/** The address of a file is bound to its server, a password also to the account there. */
export const targetOf = (field: SecretField, { origin, username }: Pick<StoredSource, 'origin' | 'username'>) =>
  sourceTarget(origin, field === 'url' ? null : username);

/** A secret as stored in the source's row. */
export const storedSecret = (
  { secrets }: Pick<TenantContext, 'secrets'>,
  id: string,
  field: SecretField,
  stored: StoredSource | undefined,
): StoredSecret =>
  secrets.at({
    context: secretContext(field)(id),
    field,
    sealed: stored?.[field] ?? null,
    target: stored ? targetOf(field, stored) : null,
  });

/**
 * The address the user entered; undefined to keep the stored one. Throws 400 if there is no stored address, if it belongs to another
 * server, and if the address of a file, which is a secret, would become that of a server, which is shown.
 */
export function enteredAddress(
  url: string | undefined,
  kind: CalendarKind,
  stored: StoredSource | undefined,
): string | undefined {
  const isKept = !url || isShownAddress(url);
  if (!isKept) return url;
  if (!stored) throw invalidField('url', 'must be the whole address');
  if (url && new URL(url).origin !== stored.origin)
    throw invalidField('url', 'must be entered again: the stored address is for another server', 'SECRET_REQUIRED');
  if (stored.kind === 'ics' && kind !== 'ics')
    throw invalidField('url', 'must be entered again: the stored address is that of a file', 'SECRET_REQUIRED');
  return undefined;
}

/**
 * How to reach a source, with its stored secrets unless others are given. Throws 400 `SECRET_REQUIRED` if the stored ones are for another
 * target.
 */
export function accessTo(
  ctx: TenantContext,
  stored: StoredSource | undefined,
  given: { url?: string | undefined; username: string | null; password?: SecretInput },
  timeoutMs: number,
): CalendarAccess {
  const origin = given.url === undefined ? stored?.origin : new URL(given.url).origin;
  const settings = { origin: origin ?? '', username: given.username };
  const id = stored?.id ?? '';
  try {
    const url = storedSecret(ctx, id, 'url', stored).for(targetOf('url', settings), given.url);
    if (!url) throw new CalendarFailure('invalid');
    const password = storedSecret(ctx, id, 'password', stored).for(targetOf('password', settings), given.password);
    const policy = ctx.config.outbound.byUsers;
    return { url, username: given.username, password, policy, until: performance.now() + timeoutMs };
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    ctx.log.error({ err: error, tenantId: ctx.tenantId, sourceId: id }, 'the secret of a calendar cannot be read');
    throw new CalendarFailure('unauthorized');
  }
}
