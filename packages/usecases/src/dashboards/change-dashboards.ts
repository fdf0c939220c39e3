import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { type Prepared, prepared } from '@portal/db/prepared';
import { users } from '@portal/db/schema/accounts/users';
import { unauthenticated } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';

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
export const changeDashboards = <T>(ctx: UserContext, work: (tx: Tx) => Promise<T>): Promise<T> =>
  ctx.tx(async (tx) => {
    // The lock goes ahead of the work's first statement, in one flush: the server does one after the other anyway.
    const [account, result] = await Promise.all([tx.run(lockAccount, { userId: ctx.actor.id }), work(tx)]);
    checkIsThere(account);
    return result;
  });

/** The same for a single statement: lock, statement and commit leave in one flush. */
export const changeDashboardsBy = <Params extends Record<string, unknown>, Row>(
  ctx: UserContext,
  statement: Prepared<Params, Row>,
  params: Params,
): Promise<Row[]> =>
  ctx.tx(async (tx) => {
    const [account, rows] = await Promise.all([
      tx.run(lockAccount, { userId: ctx.actor.id }),
      tx.runAndCommit(statement, params),
    ]);
    checkIsThere(account);
    return rows;
  });

function checkIsThere(account: unknown[]): void {
  // Deleted while its last request was under way, and its dashboards with it.
  if (account.length === 0) throw unauthenticated();
}
