import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { users } from '@portal/db/schema/users';
import { unauthenticated } from '@portal/domain/errors';
import type { Ctx } from '../run/context.ts';

const lockAccount = prepared<{ userId: string }>()('dashboards_lock', (db) =>
  db
    .select({ id: users.id })
    .from(users)
    .where(eq(users.id, sql.placeholder('userId')))
    .for('no key update'),
);

/**
 * A transaction in which nobody else changes the caller's tabs, layouts, widgets or pictures: it holds the account's row.
 * Limits are counted, positions closed and items compared with widgets in here; reading and signing in go on meanwhile.
 */
export const changeDashboards = <T>(ctx: Ctx, work: (tx: Tx) => Promise<T>): Promise<T> =>
  ctx.tx(async (tx) => {
    // The lock goes ahead of the work's first statement, in one flush: the server does one after the other anyway.
    const [account, result] = await Promise.all([tx.run(lockAccount, { userId: ctx.actor.id }), work(tx)]);
    // Deleted while its last request was under way.
    if (account.length === 0) throw unauthenticated();
    return result;
  });
