import { asc, eq, sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { calendarSources } from '@portal/db/schema/calendar';
import {
  addressOf,
  type CalendarSource,
  type CalendarSourceChange,
  maxSources,
  type NewCalendarSource,
  shownAddress,
} from '@portal/domain/calendar/sources';
import { conflict, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { secretChange } from '@portal/domain/secret-input';
import type { UserContext } from '@portal/platform/context';
import { changeDashboards } from '../dashboards/change-dashboards.ts';
import { forgetInWidgets } from '../dashboards/named-in-widgets.ts';
import { enteredAddress, ownSource, type StoredSource, storedSecret, targetOf } from './stored-source.ts';

const columns = {
  id: calendarSources.id,
  name: calendarSources.name,
  kind: calendarSources.kind,
  origin: calendarSources.origin,
  url: calendarSources.url,
  username: calendarSources.username,
  password: calendarSources.password,
  color: calendarSources.color,
  isActive: calendarSources.isActive,
};

const sourcesOf = prepared<{ userId: string }>()('calendar_sources_of', (db) =>
  db
    .select(columns)
    .from(calendarSources)
    .where(eq(calendarSources.userId, sql.placeholder('userId')))
    .orderBy(asc(calendarSources.id)),
);

type Row = StoredSource & Pick<CalendarSource, 'name' | 'color' | 'isActive'>;

/** The caller's calendars, in the order they were added. */
export const listSources = async (ctx: UserContext): Promise<CalendarSource[]> =>
  (await ctx.run(sourcesOf, { userId: ctx.actor.id })).map((row) => shownSource(ctx, row));

function shownSource(ctx: UserContext, row: Row): CalendarSource {
  const { id, name, kind, origin, username, password, color, isActive } = row;
  const address = () => storedSecret(ctx, id, 'url', row).for(targetOf('url', row))?.reveal() ?? origin;
  return {
    id,
    name,
    kind,
    url: shownAddress(kind, origin, address),
    username,
    hasPassword: password !== null,
    color,
    isActive,
  };
}

/** Adds a calendar; the next request for events reads it. Throws 409 `LIMIT_REACHED` at 20. */
export const addSource = (ctx: UserContext, input: NewCalendarSource): Promise<CalendarSource> =>
  changeDashboards(ctx, async (tx) => {
    if ((await tx.$count(calendarSources, eq(calendarSources.userId, ctx.actor.id))) >= maxSources) {
      throw conflict('LIMIT_REACHED', `There are ${maxSources} calendars already. Please delete one first.`);
    }
    const { name, kind, username, color, isActive, password } = input;
    const id = newId();
    const url = addressOf(kind, input.url);
    const to = { origin: new URL(url).origin, username };
    const row = {
      id,
      name,
      kind,
      username,
      color,
      isActive,
      origin: to.origin,
      url: storedSecret(ctx, id, 'url', undefined).sealedFor(targetOf('url', to), url) ?? '',
      password: sealedPassword(ctx, id, undefined, to, password),
    };
    await tx.insert(calendarSources).values({ ...row, tenantId: ctx.tenantId, userId: ctx.actor.id });
    return shownSource(ctx, row);
  });

/**
 * Changes the fields of `change`. A new kind, address or sign-in discards the events read before, and the result of a read in progress.
 * Throws 404, and 400 `SECRET_REQUIRED` if a stored secret would go to another target.
 */
export async function changeSource(
  ctx: UserContext,
  id: string,
  change: CalendarSourceChange,
): Promise<CalendarSource> {
  const { source, staleFile } = await ctx.tx(async (tx) => {
    const before = await ownSource(tx, ctx, id, 'update');
    if (!before) throw notFound();
    const { name = before.name, kind = before.kind, username = before.username } = change;
    const { color = before.color, isActive = before.isActive } = change;
    const entered = enteredAddress(change.url, kind, before);
    const url = entered === undefined ? undefined : addressOf(kind, entered);
    const to = { origin: url === undefined ? before.origin : new URL(url).origin, username };
    const row = {
      id,
      name,
      kind,
      username,
      color,
      isActive,
      origin: to.origin,
      url:
        url === undefined
          ? before.url
          : (storedSecret(ctx, id, 'url', before).sealedFor(targetOf('url', to), url) ?? ''),
      password: sealedPassword(ctx, id, before, to, change.password),
    };
    const isOtherTarget = (['kind', 'url', 'username', 'password'] as const).some(
      (field) => row[field] !== before[field],
    );
    await tx
      .update(calendarSources)
      .set({ ...row, ...(isOtherTarget && unread) })
      .where(eq(calendarSources.id, id));
    return { source: shownSource(ctx, row), staleFile: isOtherTarget ? before.bodyPath : null };
  });
  if (staleFile !== null) await ctx.files.remove(staleFile);
  return source;
}

/** Columns of a source that has not been read. */
const unread = {
  checkedAt: null,
  error: null,
  bodyPath: null,
  validators: null,
  coversFrom: null,
  coversTo: null,
  claim: null,
  claimedUntil: null,
};

/** Deletes a calendar with its stored events and removes it from widgets. Throws 404. */
export async function deleteSource(ctx: UserContext, id: string): Promise<void> {
  const file = await changeDashboards(ctx, async (tx) => {
    const source = await ownSource(tx, ctx, id, 'update');
    if (!source) throw notFound();
    await tx.delete(calendarSources).where(eq(calendarSources.id, id));
    await forgetInWidgets(tx, ctx, 'sourceIds', id);
    return source.bodyPath;
  });
  if (file !== null) await ctx.files.remove(file);
}

/** The sealed password. A blank one for a source without a password stays null and needs no check of its target. */
function sealedPassword(
  ctx: UserContext,
  id: string,
  before: StoredSource | undefined,
  to: Pick<StoredSource, 'origin' | 'username'>,
  input: CalendarSourceChange['password'],
): string | null {
  if (!before?.password && secretChange(input).kind === 'keep') return null;
  return storedSecret(ctx, id, 'password', before).sealedFor(targetOf('password', to), input);
}
